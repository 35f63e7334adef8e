#include "cli/help.h"

#include <string>
#include <vector>

#include <absl/strings/str_replace.h>
#include <fmt/format.h>

#include "cli/exit_code.h"
#include "common/nearest_name.h"
#include "flags/words.h"

namespace leadline::cli {

namespace {

// Positionals appear by the text of their option, "FILE", everywhere.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option,
                               bool is_positional) const override {
    if (is_positional) {
      const std::string name = flags::ArgumentName(*option);
      return option->get_required() ? name : fmt::format("[{}]", name);
    }
    return CLI::Formatter::make_option_name(option, is_positional);
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    // What excludes what is said when it happens, not in the table.
    if (option->get_positional() || option->get_expected_max() == 0) return "";
    return CLI::Formatter::make_option_opts(option);
  }
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    return absl::StrReplaceAll(
        CLI::Formatter::make_help(app, std::move(name), mode),
        {{"\n\n\n", "\n\n"}});
  }
  std::string make_description(const CLI::App* app) const override {
    return CLI::Formatter::make_description(app) + "\n";
  }
  std::string make_option_usage(const CLI::Option* option) const override {
    return make_option_name(option, true);
  }
};

}  // namespace

std::shared_ptr<CLI::Formatter> MakeHelpFormatter() {
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(26);
  formatter->label("SUBCOMMAND", "COMMAND");
  formatter->label("Subcommands", "Commands");
  formatter->label("Positionals", "Arguments");
  return formatter;
}

std::string ProgramFooter() {
  return fmt::format(
      "Examples:\n"
      "  leadline run examples/quickstart.yaml      "
      "# trains here, follows, prints the table\n"
      "  leadline plan examples/depth_study.yaml    "
      "# what a sweep would cost\n"
      "  leadline ls                                # sweeps, newest first\n"
      "  leadline results s1 --format csv           # the table again\n"
      "  leadline show s1.1.0 --config | leadline-trainer -   "
      "# one trial by hand\n"
      "\n"
      "Ids: sweep s1, cell s1.3, trial s1.3.0 (a cell and a seed), attempt "
      "s1.3.0@2.\n"
      "A unique prefix of a sweep's name stands for its id.\n"
      "\n"
      "Environment:\n"
      "  LEADLINE_COORDINATOR  coordinator to talk to when --coordinator is "
      "not "
      "given\n"
      "  LEADLINE_STATE        state folder when --state is not given; else\n"
      "                        $XDG_STATE_HOME/leadline or "
      "~/.local/state/leadline\n"
      "  NO_COLOR              no colours on a terminal\n"
      "\n"
      "Without a coordinator named, a private one for the state folder is "
      "started and\nends with its last command.\n"
      "\n"
      "Exit codes:\n{}"
      "\n"
      "leadline COMMAND --help tells more of each.",
      ExitCodeHelp());
}

std::string CommandFooter(std::string_view examples) {
  return fmt::format(
      "Examples:\n{}\nExit codes and environment: leadline --help", examples);
}

std::string ParseErrorText(const CLI::App& app, const CLI::ParseError& error,
                           std::string_view word) {
  const auto parsed = app.get_subcommands();
  if (!parsed.empty()) {
    return fmt::format("{}\nleadline {} --help tells what is accepted",
                       flags::WhatIsWrong(app, error),
                       parsed.front()->get_name());
  }
  if (!word.empty()) {
    std::vector<std::string_view> names;
    for (const CLI::App* command : app.get_subcommands(nullptr)) {
      names.push_back(command->get_name());
    }
    return fmt::format("there is no command '{}'{}\nleadline --help lists them",
                       word, DidYouMean(word, names));
  }
  const std::string stray = flags::StrayArgument(app);
  return fmt::format("{}\nleadline --help lists them",
                     stray.empty() ? "no command was given" : stray);
}

}  // namespace leadline::cli
