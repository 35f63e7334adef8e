// The file that --config names: the keys are the program's long options, one
// KEY=VALUE a line.

#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace leadline::flags {

/// Strict where CLI11's own reader passes things by: a line without "=", a
/// section, an unknown key and one that stands there twice are errors that name
/// the line. "#" begins a line of comment; a value may stand in quotation marks
/// of either kind, and holds none of that kind then.
class SettingsFile final : public CLI::Config {
 public:
  /// `app`, whose options are the keys, must outlive it.
  explicit SettingsFile(const CLI::App& app) : app_(app) {}

  /// Throws CLI::ConfigError.
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

  /// What is in effect, as from_config reads it.
  std::string to_config(const CLI::App* app, bool defaults, bool describe,
                        std::string prefix) const override;

 private:
  CLI::ConfigItem ReadLine(const std::string& line) const;

  const CLI::App& app_;
};

}  // namespace leadline::flags
