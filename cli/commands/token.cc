#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/access_client.h"
#include "cli/commands/access_commands.h"
#include "cli/exit_code.h"
#include "cli/table.h"
#include "common/access_role.h"
#include "common/sha256.h"
#include "flags/values.h"

namespace leadline::cli {
namespace {

constexpr double kSecondsOfDay = 86'400;
constexpr size_t kPage = 1000;

struct Options {
  std::string action;
  std::string token;
  std::string role;
  std::string name;
  double days = 0;
};

// 256 random bits: what is hashed, and shown once.
absl::StatusOr<std::string> FreshSecret() {
  std::array<unsigned char, 32> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) !=
      static_cast<ssize_t>(bytes.size())) {
    return absl::InternalError(
        fmt::format("no random numbers: {}", std::strerror(errno)));
  }
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

// Of a file that standard output was sent to; a terminal or pipe is none.
bool IsReadByOthers(int file) {
  struct stat about {};
  return fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
         (about.st_mode & S_IRWXO) != 0;
}

Json TokenJson(const v1::Token& token) {
  const auto or_null = [](const std::string& text) {
    return JsonOptional(!text.empty(), text);
  };
  return {{"token", token.token()},
          {"name", token.name()},
          {"role", token.role()},
          {"created_at", token.created_at()},
          {"expires_at", or_null(token.expires_at())},
          {"revoked_at", or_null(token.revoked_at())}};
}

// Of all that were ever made: from the first one on nobody comes in without.
constexpr std::string_view kFirst = "t1";

absl::Status Create(Context& context, const Options& options) {
  if (!ParseAccessRole(options.role)) {
    return At(absl::InvalidArgumentError(
                  "token create needs --role read, submit, admin or agent"),
              "--role");
  }
  const auto secret = FreshSecret();
  if (!secret.ok()) return secret.status();
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  const auto access = DialAccess(**connection);
  if (!access.ok()) return access.status();
  v1::CreateTokenRequest request;
  request.set_hash(Sha256Of(*secret));
  request.set_role(options.role);
  request.set_name(options.name);
  request.set_expires_in_s(std::llround(options.days * kSecondsOfDay));
  const auto token =
      (*connection)
          ->Ask<v1::Token>([&](grpc::ClientContext* call, v1::Token* answer) {
            return access->calls->CreateToken(call, request, answer);
          });
  if (!token.ok()) return token.status();
  const std::string shown = fmt::format("ll{}_{}", token->token(), *secret);
  if (context.output.json()) {
    Json json = TokenJson(*token);
    json["secret"] = shown;
    context.output.PrintJson(json);
  }
  context.output.Print(shown + "\n");
  context.output.Note(fmt::format(
      "{}{}{}, role {}, {}; it is shown this once: keep it in a file that you "
      "alone can read (--token-file), or in LEADLINE_TOKEN",
      token->token(), token->name().empty() ? "" : " ", token->name(),
      token->role(),
      token->expires_at().empty() ? "never expires"
                                  : "expires " + token->expires_at()));
  if (IsReadByOthers(STDOUT_FILENO)) {
    context.output.Note(
        "others may read the file that it was written to, and such a file is "
        "refused: chmod 600 it, and set umask 077 before the next one");
  }
  if (token->token() == kFirst) {
    context.output.Note(
        "it is the first: from now on every address asks for one, of agents "
        "too (--role agent); the socket in the coordinator's state folder does "
        "not: leadline token create --role admin --state DIR");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::Token>> FetchAll(Connection& connection,
                                                const AccessClient& access) {
  std::vector<v1::Token> all;
  v1::ListTokensRequest request;
  request.set_limit(kPage);
  while (true) {
    const auto page = connection.Ask<v1::ListTokensReply>(
        [&](grpc::ClientContext* call, v1::ListTokensReply* answer) {
          return access.calls->ListTokens(call, request, answer);
        });
    if (!page.ok()) return page.status();
    all.insert(all.end(), page->tokens().begin(), page->tokens().end());
    if (!page->more() || page->tokens().empty()) return all;
    request.set_after(all.back().token());
  }
}

absl::Status List(Context& context) {
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  const auto access = DialAccess(**connection);
  if (!access.ok()) return access.status();
  const auto tokens = FetchAll(**connection, *access);
  if (!tokens.ok()) return tokens.status();
  Json rows = Json::array();
  Table table{
      {{"token"}, {"role"}, {"name"}, {"created"}, {"expires"}, {"revoked"}},
      {}};
  for (const v1::Token& token : *tokens) {
    rows.push_back(TokenJson(token));
    table.rows.push_back(
        {token.token(), token.role(), context.output.out().Clean(token.name()),
         token.created_at(),
         token.expires_at().empty() ? "never" : token.expires_at(),
         token.revoked_at()});
  }
  if (context.output.json()) context.output.PrintJson({{"tokens", rows}});
  context.output.Print(tokens->empty() ? "no tokens\n"
                                       : Render(table, context.output.out()));
  return absl::OkStatus();
}

absl::Status Revoke(Context& context, const Options& options) {
  if (options.token.empty()) {
    return At(absl::InvalidArgumentError(
                  "token revoke needs the token's id; leadline token list "
                  "shows them"),
              "ID");
  }
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  const auto access = DialAccess(**connection);
  if (!access.ok()) return access.status();
  v1::RevokeTokenRequest request;
  request.set_token(options.token);
  const auto token =
      (*connection)
          ->Ask<v1::Token>([&](grpc::ClientContext* call, v1::Token* answer) {
            return access->calls->RevokeToken(call, request, answer);
          });
  if (!token.ok()) return token.status();
  if (context.output.json()) context.output.PrintJson(TokenJson(*token));
  context.output.Print(
      fmt::format("{}: revoked {}\n", token->token(), token->revoked_at()));
  return absl::OkStatus();
}

/// What that action has no use for, but was given; empty if there is none.
std::string Superfluous(const Options& options) {
  const bool creates = options.action == "create";
  if (options.action != "revoke" && !options.token.empty()) return "ID";
  if (!creates && !options.role.empty()) return "--role";
  if (!creates && !options.name.empty()) return "--name";
  if (!creates && options.days > 0) return "--expires";
  return "";
}

absl::Status Token(Context& context, const Options& options) {
  if (std::string what = Superfluous(options); !what.empty()) {
    return At(absl::InvalidArgumentError(
                  fmt::format("token {} takes no {}", options.action, what)),
              what);
  }
  if (options.action == "create") return Create(context, options);
  if (options.action == "list") return List(context);
  return Revoke(context, options);
}

}  // namespace

Command TokenCommand() {
  return {
      "token", "make, list and revoke the tokens that let people and agents in",
      "  leadline token create --role agent --name rack-3 --expires 365\n"
      "  (umask 077; leadline token create --role admin --state DIR > "
      "me.token)\n"
      "  leadline token list\n"
      "  leadline token revoke t3\n",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<Options>();
        app.add_option("action", options->action, "create, list or revoke")
            ->option_text("ACTION")
            ->required()
            ->check(flags::OneOf({"create", "list", "revoke"}));
        app.add_option("token", options->token, "to revoke: t1, t2, ...")
            ->option_text("ID");
        app.add_option("--role", options->role,
                       "of a new one: read looks, submit also changes sweeps, "
                       "admin also makes tokens, agent trains and nothing else")
            ->option_text("ROLE")
            ->check(flags::OneOf({"read", "submit", "admin", "agent"}));
        app.add_option("--name", options->name, "label of a new one")
            ->option_text("NAME");
        app.add_option("--expires", options->days,
                       "days a new one lives (default: for ever)")
            ->option_text("DAYS")
            ->check(flags::Number(0.0001, 36'500.0));
        return [options](Context& context) { return Token(context, *options); };
      }};
}

}  // namespace leadline::cli
