// What --help says beside the options.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace leadline::cli {

/// Usage, arguments, options; commands as "COMMAND".
std::shared_ptr<CLI::Formatter> MakeHelpFormatter();

/// Examples, environment, exit codes, files.
std::string ProgramFooter();

/// A command's examples, and where to read on.
std::string CommandFooter(std::string_view examples);

/// A message for arguments that were refused, with the help to read. `word` is
/// the first argument that is no option, where it names no command.
std::string ParseErrorText(const CLI::App& app, const CLI::ParseError& error,
                           std::string_view word);

}  // namespace leadline::cli
