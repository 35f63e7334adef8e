#include "flags/settings_file.h"

#include <algorithm>
#include <istream>
#include <set>
#include <string_view>
#include <vector>

#include "common/harmless_text.h"
#include "common/nearest_name.h"

namespace leadline::flags {
namespace {

bool IsSetting(const CLI::Option* option) {
  return option != nullptr && option->get_configurable() &&
         !option->get_lnames().empty();
}

/// A value is printed, and is a path or a number: none has these.
bool HasControls(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) {
    return (c < ' ' && c != '\t') || c == 0x7f;
  });
}

/// CLI11 has no name for an option that takes no value.
bool IsFlag(const CLI::Option& option) {
  return option.get_expected_min() == 0;
}

std::string WithoutMarks(std::string value) {
  const bool begins = value.starts_with('"') || value.starts_with('\'');
  if (!begins) return value;
  const char mark = value.front();
  if (value.size() < 2 || value.find(mark, 1) != value.size() - 1) {
    throw CLI::ConfigError(
        "a value must end where its quotation mark is "
        "closed, and not before: " +
        value);
  }
  return value.substr(1, value.size() - 2);
}

std::string Quoted(const std::string& value) {
  constexpr char kPlain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:/_-";
  if (value.find_first_not_of(kPlain) == std::string::npos) return value;
  const char mark = value.find('"') == std::string::npos ? '"' : '\'';
  if (value.find(mark) != std::string::npos || HasControls(value)) {
    throw CLI::ConfigError("no file of settings can hold the value " + value);
  }
  return mark + value + mark;
}

/// ", did you mean slots?"; empty if no key is near.
std::string NearestKey(const CLI::App& app, const std::string& typed) {
  std::vector<std::string_view> keys;
  for (const CLI::Option* option : app.get_options()) {
    if (IsSetting(option)) keys.push_back(option->get_lnames().front());
  }
  return DidYouMean(typed, keys);
}

/// What it was given, else its default; empty where it has neither.
std::string InEffect(const CLI::Option& option) {
  if (IsFlag(option)) {
    // A file may say that it is off.
    return option.count() > 0 && option.as<bool>() ? "true" : "false";
  }
  if (option.count() > 0) return option.results().back();
  return option.get_default_str();
}

/// What holds where a key has no value, as its description ends.
std::string WithoutValue(const CLI::Option& option) {
  constexpr std::string_view kMark = "default: ";
  const std::string& about = option.get_description();
  const size_t at = about.rfind(kMark);
  return "# " + option.get_lnames().front() + " is not set" +
         (at == std::string::npos ? ""
                                  : ": " + about.substr(at + kMark.size())) +
         "\n";
}

}  // namespace

CLI::ConfigItem SettingsFile::ReadLine(const std::string& line) const {
  if (HasControls(line)) {
    // An exception's text ends at a NUL.
    throw CLI::ConfigError("control characters, in " + HarmlessText(line));
  }
  const size_t equals = line.find('=');
  if (equals == std::string::npos) {
    throw CLI::ConfigError("expected KEY=VALUE, found " + line);
  }
  CLI::ConfigItem item;
  item.name = CLI::detail::trim_copy(line.substr(0, equals));
  const CLI::Option* option = app_.get_option_no_throw("--" + item.name);
  if (option == nullptr) {
    throw CLI::ConfigError("unknown key " + item.name +
                           NearestKey(app_, item.name) +
                           "; the keys are the flags of --help");
  }
  if (!IsSetting(option) || item.name == "config") {
    throw CLI::ConfigError(item.name + " stands on the command line alone");
  }
  item.inputs = {WithoutMarks(CLI::detail::trim_copy(line.substr(equals + 1)))};
  const std::string& value = item.inputs.front();
  if (value.empty()) throw CLI::ConfigError(item.name + " is empty");
  if (IsFlag(*option) && value != "true" && value != "false") {
    throw CLI::ConfigError(item.name + " is true or false, not " + value);
  }
  return item;
}

std::vector<CLI::ConfigItem> SettingsFile::from_config(
    std::istream& input) const {
  std::vector<CLI::ConfigItem> read;
  std::set<std::string> keys;
  int number = 0;
  for (std::string line; std::getline(input, line);) {
    ++number;
    CLI::detail::trim(line);
    if (line.empty() || line.starts_with('#')) continue;
    try {
      read.push_back(ReadLine(line));
      if (!keys.insert(read.back().name).second) {
        throw CLI::ConfigError("key " + read.back().name +
                               " stands there twice");
      }
    } catch (const CLI::ConfigError& error) {
      throw CLI::ConfigError("line " + std::to_string(number) + ": " +
                             error.what());
    }
  }
  return read;
}

std::string SettingsFile::to_config(const CLI::App* app, bool defaults, bool,
                                    std::string) const {
  std::string text;
  for (const CLI::Option* option : app->get_options()) {
    const bool is_config = option == app->get_config_ptr();
    if (!IsSetting(option) || is_config) continue;
    if (!defaults && option->count() == 0) continue;
    const std::string value = InEffect(*option);
    if (value.empty()) {
      if (defaults) text += WithoutValue(*option);
      continue;
    }
    const std::string& key = option->get_lnames().front();
    text += key + "=" + (IsFlag(*option) ? value : Quoted(value)) + "\n";
  }
  return text;
}

}  // namespace leadline::flags
