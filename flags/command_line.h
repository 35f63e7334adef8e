// How the programs that run for long read their settings: flags, or a file of
// the same keys, or both; what stands on the command line wins.

#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

namespace leadline::flags {

/// What a command line came to: go on, or print `text` and end.
struct Reading {
  bool goes_on = false;
  /// It asks for what is in effect: to be printed if it stands, and to be
  /// refused otherwise.
  bool prints_config = false;
  int exit_code = 0;
  std::string text;
};

/// Adds --config, --print-config and --version.
void AddCommon(CLI::App& app, const std::string& version);

/// Sets what `app` is bound to. After misuse the exit code is 2 and the text
/// one message that names the key, and the file where it stands in one;
/// --print-config ends with 0 and what is in effect, as a file for --config;
/// keys without a value are comments there.
/// `complete` may then add what else is in effect, before it is printed.
Reading Read(CLI::App& app, int argc, const char* const* argv,
             const std::function<void()>& complete = {});

/// "PROGRAM: MESSAGE [misuse]", and the exit code of misuse.
Reading Misuse(const CLI::App& app, const std::string& message);

/// Whether the value of an environment variable sets a flag, as it would were
/// the variable the flag's own: "1", "true", "yes", "on" and the like. What is
/// no such word does not.
bool IsOn(const std::string& text);

}  // namespace leadline::flags
