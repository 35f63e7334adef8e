#include "flags/command_line.h"

#include <memory>
#include <sstream>
#include <vector>

#include "common/harmless_text.h"
#include "flags/settings_file.h"
#include "flags/words.h"

namespace leadline::flags {
namespace {

constexpr char kConfig[] = "--config";
constexpr char kPrintConfig[] = "--print-config";

/// What is wrong with the file itself, whatever the command line says besides;
/// empty if nothing is.
std::string WhyNotFile(CLI::App& app, const std::string& file) {
  try {
    // Taken from the back.
    app.parse(std::vector<std::string>{file, kConfig});
  } catch (const CLI::RequiredError&) {
    return "";
  } catch (const CLI::FileError&) {
    return "cannot read the settings in " + file;
  } catch (const CLI::ParseError& error) {
    return file + ": " + WhatIsWrong(app, error);
  }
  return "";
}

std::string Explain(CLI::App& app, const CLI::ParseError& error) {
  // Before another parse forgets it.
  std::string wrong = WhatIsWrong(app, error);
  const std::vector<std::string> files = app.get_config_ptr()->results();
  if (!files.empty()) {
    std::string why = WhyNotFile(app, files.front());
    if (!why.empty()) return why;
  }
  return wrong;
}

}  // namespace

void AddCommon(CLI::App& app, const std::string& version) {
  app.set_version_flag("--version", app.get_name() + " " + version)
      ->configurable(false);
  app.config_formatter(std::make_shared<SettingsFile>(app));
  app.set_config(kConfig, "", "file of these flags, one KEY=VALUE a line")
      ->type_name("FILE");
  app.add_flag(kPrintConfig)
      ->description("print what is in effect, as a file for --config, and end")
      ->configurable(false);
}

Reading Read(CLI::App& app, int argc, const char* const* argv,
             const std::function<void()>& complete) {
  try {
    app.parse(WordsFromTheBack(app, argc, argv));
    if (const std::string empty = EmptyValue(app); !empty.empty()) {
      return Misuse(app, empty);
    }
    if (complete) complete();
    if (app.get_option(kPrintConfig)->count() > 0) {
      return {.prints_config = true, .text = app.config_to_str(true)};
    }
    return {.goes_on = true, .text = ""};
  } catch (const CLI::Success& success) {
    std::ostringstream text;
    app.exit(success, text, text);
    return {.text = text.str()};
  } catch (const CLI::ParseError& error) {
    return Misuse(app, Explain(app, error));
  }
}

Reading Misuse(const CLI::App& app, const std::string& message) {
  return {
      .exit_code = 2,
      .text = app.get_name() + ": " + HarmlessText(message) + " [misuse]\n"};
}

bool IsOn(const std::string& text) {
  bool is_on = false;
  // Empty is as if it were not set.
  return !text.empty() && CLI::detail::lexical_cast(text, is_on) && is_on;
}

}  // namespace leadline::flags
