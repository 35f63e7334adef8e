#include "cli/program.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <absl/strings/cord.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/access.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/text.h"
#include "cli/version.h"
#include "common/harmless_text.h"
#include "errors/error_code.h"
#include "flags/words.h"

namespace leadline::cli {
namespace {

struct Global {
  PlaceOptions place;
  AccessOptions access;
  bool json = false;
};

// Accepted before and after the command's name.
void AddGlobalOptions(CLI::App& app, Global* global) {
  app.add_option("--coordinator", global->place.coordinator,
                 "coordinator to talk to, HOST:PORT or unix:PATH")
      ->option_text("ADDRESS")
      ->group("Global options");
  app.add_option("--state", global->place.state,
                 "state folder of the local coordinator")
      ->option_text("DIR")
      ->group("Global options");
  app.add_option("--tls-ca", global->access.files.ca,
                 "authorities (PEM) by which the coordinator is believed; "
                 "default: LEADLINE_TLS_CA, else those the system trusts")
      ->option_text("FILE")
      ->group("Global options");
  app.add_option("--tls-cert", global->access.files.certificate,
                 "certificate (PEM) to show; default: LEADLINE_TLS_CERT")
      ->option_text("FILE")
      ->group("Global options");
  app.add_option("--tls-key", global->access.files.key,
                 "its private key (PEM); default: LEADLINE_TLS_KEY")
      ->option_text("FILE")
      ->group("Global options");
  app.add_option("--token-file", global->access.token_file,
                 "file that holds the token to show; default: LEADLINE_TOKEN, "
                 "the token itself, else LEADLINE_TOKEN_FILE")
      ->option_text("FILE")
      ->group("Global options");
  app.add_flag("--json", global->json,
               "one JSON document on standard output, errors as JSON too")
      ->group("Global options");
}

bool AsksForJson(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") return false;
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

// Of the global options.
bool TakesValue(std::string_view argument) {
  constexpr std::array<std::string_view, 6> kWithValue = {
      "--coordinator", "--state",   "--tls-ca",
      "--tls-cert",    "--tls-key", "--token-file"};
  return std::find(kWithValue.begin(), kWithValue.end(), argument) !=
         kWithValue.end();
}

// The first argument that is neither an option nor the value of one.
std::string_view FirstWord(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (TakesValue(argument)) {
      ++i;
    } else if (!argument.starts_with('-')) {
      return argument;
    }
  }
  return {};
}

struct Declared {
  CLI::App* app;
  std::string name;
  Action action;
};

/// No message can carry it, and no table show it; null if all are text.
const char* WordThatIsNoText(int argc, char** argv) {
  size_t bad_byte = 0;
  char** const bad = std::find_if(argv + 1, argv + argc, [&](const char* word) {
    return !IsUtf8(word, &bad_byte);
  });
  return bad == argv + argc ? nullptr : *bad;
}

// A coordinator names the call that it refuses, of which people know nothing.
absl::Status WithCommand(const absl::Status& status, const std::string& name) {
  if (status.ok() || ErrorOf(status) != ErrorCode::kForbidden) return status;
  absl::Status named(
      status.code(),
      fmt::format("{} (by leadline {})", std::string(status.message()), name));
  status.ForEachPayload(
      [&named](absl::string_view type, const absl::Cord& text) {
        named.SetPayload(type, text);
      });
  return named;
}

std::vector<Declared> Declare(CLI::App& app, Global* global) {
  std::vector<Declared> declared;
  for (const Command& command : Registry()) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->group("Commands");
    sub->footer(CommandFooter(command.examples));
    Action action = command.declare(*sub);
    AddGlobalOptions(*sub, global);
    declared.push_back({sub, command.name, std::move(action)});
  }
  return declared;
}

}  // namespace

int Run(int argc, char** argv, Interrupts& interrupts) {
  const Style out = StyleOf(STDOUT_FILENO);
  const Style err = StyleOf(STDERR_FILENO);
  Global global;
  CLI::App app(
      "Runs sweeps of depth, data set and method over residual-routing "
      "transformers, and tells what came out.",
      "leadline");
  app.formatter(MakeHelpFormatter());
  app.set_help_flag("--help,-h", "print this help");
  app.set_version_flag("--version", fmt::format("leadline {}", kVersion),
                       "print the version");
  app.require_subcommand(1);
  app.footer(ProgramFooter());
  AddGlobalOptions(app, &global);
  const std::vector<Declared> commands = Declare(app, &global);

  if (const char* word = WordThatIsNoText(argc, argv); word != nullptr) {
    return Output(out, err, AsksForJson(argc, argv))
        .Finish(At(absl::InvalidArgumentError(fmt::format(
                       "an argument is no UTF-8 text: {}", HarmlessText(word))),
                   "arguments"));
  }
  try {
    app.parse(flags::WordsFromTheBack(app, argc, argv));
  } catch (const CLI::Success& wanted) {
    Output output(out, err, false);
    return app.exit(wanted) == 0 ? output.Finish(absl::OkStatus()) : 1;
  } catch (const CLI::ParseError& error) {
    Output output(out, err, AsksForJson(argc, argv));
    return output.Finish(At(absl::InvalidArgumentError(ParseErrorText(
                                app, error, FirstWord(argc, argv))),
                            "arguments"));
  }

  if (const std::string empty = flags::EmptyValue(app); !empty.empty()) {
    return Output(out, err, global.json)
        .Finish(At(absl::InvalidArgumentError(empty), "arguments"));
  }

  Output output(out, err, global.json);
  if (global.json) {
    interrupts.SetLastWords(ErrorDocument(WithError(
        absl::CancelledError("interrupted"), ErrorCode::kInterrupted)));
  }
  for (const Declared& command : commands) {
    if (!command.app->parsed()) continue;
    PutIntoEnvironment(global.access);
    Context context{output, interrupts, global.place, command.name};
    return output.Finish(WithCommand(command.action(context), command.name));
  }
  return static_cast<int>(ExitCode::kMisuse);
}

}  // namespace leadline::cli
