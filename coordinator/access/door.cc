#include "coordinator/access/door.h"

#include <utility>

#include <absl/status/status.h>
#include <unistd.h>

#include "common/user_name.h"

namespace leadline::access {
namespace {

constexpr std::string_view kBearer = "Bearer ";

storage::WallTime Now() {
  return std::chrono::time_point_cast<storage::WallTime::duration>(
      std::chrono::system_clock::now());
}

std::string WhoOf(const storage::TokenRecord& token) {
  return storage::TokenText(token.id) +
         (token.name.empty() ? "" : " " + token.name);
}

/// Of a call that was refused before it was known who calls.
constexpr char kNobody[] = "nobody";

}  // namespace

absl::StatusOr<std::unique_ptr<Door>> Door::Open(storage::AccessStore& store,
                                                 Log& log, Limits limits) {
  const auto tokens = store.ListTokens();
  if (!tokens.ok()) return tokens.status();
  return std::unique_ptr<Door>(new Door(store, log, limits, *tokens));
}

Door::Door(storage::AccessStore& store, Log& log, Limits limits,
           const std::vector<storage::TokenRecord>& tokens)
    : store_(store),
      limits_(limits),
      local_user_(UserText(geteuid())),
      book_(tokens),
      rates_(limits.calls_a_second, limits.calls_at_once),
      clerk_(std::make_unique<Clerk>(store, log, [this] { EndStale(); })) {}

absl::StatusOr<Caller> Door::Admit(const Visit& visit) {
  const CallRule* rule = FindRule(visit.call);
  if (rule != nullptr && !rule->role) {
    return Caller{kNobody, "anybody", std::nullopt, AccessRole::kRead};
  }
  auto caller = Identify(visit.entrance, visit.authorization);
  if (!caller.ok()) return Refuse(visit, kNobody, caller.status());
  if (rule == nullptr) {
    return Refuse(visit, caller->who,
                  absl::UnimplementedError("this coordinator has no such call "
                                           "as " +
                                           std::string(visit.call)));
  }
  if (!caller->May(*rule->role)) {
    return Refuse(visit, caller->who,
                  absl::PermissionDeniedError(
                      "the token " + caller->who + " has the role " +
                      std::string(Name(caller->role)) + ", and " +
                      std::string(ShortName(visit.call)) + " needs the role " +
                      std::string(Name(*rule->role))));
  }
  const absl::Status within = CheckLimits(visit, *caller);
  if (!within.ok()) return Refuse(visit, caller->who, within);
  return caller;
}

absl::StatusOr<Caller> Door::Identify(Entrance entrance,
                                      std::string_view authorization) const {
  if (entrance == Entrance::kSocket) {
    return Caller{"local user " + local_user_, "socket", std::nullopt,
                  AccessRole::kAdmin};
  }
  if (entrance == Entrance::kLoopback && !book_.IsInUse()) {
    return Caller{"somebody on this machine", "loopback", std::nullopt,
                  AccessRole::kAdmin};
  }
  if (authorization.empty()) {
    return absl::UnauthenticatedError(
        "no token was shown: set LEADLINE_TOKEN or name a file with "
        "--token-file; an admin makes one with `leadline token create`");
  }
  if (!authorization.starts_with(kBearer)) {
    return absl::UnauthenticatedError(
        "the authorization is not of the form \"Bearer TOKEN\"");
  }
  authorization.remove_prefix(kBearer.size());
  const auto token = book_.Check(authorization, Now());
  if (!token.ok()) return token.status();
  return Caller{WhoOf(*token), storage::TokenText(token->id), token->id,
                token->role, token->name};
}

absl::Status Door::CheckLimits(const Visit& visit, const Caller& caller) {
  if (!rates_.Take(caller.key, std::chrono::steady_clock::now())) {
    return absl::ResourceExhaustedError(
        "too many calls: " + caller.who + " may make " +
        std::to_string(static_cast<int64_t>(limits_.calls_a_second)) +
        " a second; wait a moment");
  }
  if (!visit.is_stream || caller.role == AccessRole::kAgent) {
    return absl::OkStatus();
  }
  if (open_streams_.StreamsOf(caller.key) >= limits_.streams_of_caller) {
    return absl::ResourceExhaustedError(
        "too many open streams: " + caller.who + " may hold " +
        std::to_string(limits_.streams_of_caller) +
        "; end some watches or attached commands");
  }
  if (open_streams_.StreamsOfReaders() >= limits_.streams_of_readers) {
    return absl::ResourceExhaustedError(
        "too many open streams: this coordinator serves " +
        std::to_string(limits_.streams_of_readers) + "; try again later");
  }
  return absl::OkStatus();
}

absl::StatusOr<Caller> Door::Refuse(const Visit& visit, const std::string& who,
                                    const absl::Status& why) {
  // A call that is not in the table was named by whoever made it.
  const bool is_known = FindRule(visit.call) != nullptr;
  clerk_->NoteRefusal({0, Now(), who,
                       is_known ? std::string(ShortName(visit.call)) : "?", "",
                       absl::StatusCodeToString(why.code()),
                       is_known ? std::string(why.message()) : "", 1});
  return why;
}

std::optional<Caller> Door::Recognise(Entrance entrance,
                                      std::string_view authorization) const {
  auto caller = Identify(entrance, authorization);
  if (!caller.ok()) return std::nullopt;
  return *std::move(caller);
}

bool Door::HasValidToken() const { return book_.HasValid(Now()); }

absl::StatusOr<storage::TokenRecord> Door::Create(storage::TokenRecord token) {
  token.created_at = Now();
  auto stored = store_.AddToken(std::move(token));
  if (stored.ok()) book_.Put(*stored);
  return stored;
}

absl::StatusOr<storage::TokenRecord> Door::Revoke(int64_t id) {
  auto stored = store_.RevokeToken(id, Now());
  if (!stored.ok()) return stored;
  book_.Put(*stored);
  EndStale();
  return stored;
}

void Door::EndStale() {
  const storage::WallTime now = Now();
  open_streams_.EndWithout(
      [&](int64_t token) { return book_.IsValid(token, now); });
}

}  // namespace leadline::access
