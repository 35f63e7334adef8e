// What is wrong with a command line, in our words.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace leadline::flags {

/// What `app`, or the command of it that was given, could not take. An option
/// that there is not comes first, with the one that may be meant: whatever else
/// is wrong may follow from it.
std::string WhatIsWrong(const CLI::App& app, const CLI::ParseError& error);

/// "--state is empty", "FILE is empty" where an option or an argument was given
/// an empty one, as by a shell's variable that is not set: it would count as
/// not given. Else empty. An argument called TEXT may be so.
std::string EmptyValue(const CLI::App& app);

/// The words of a command line, last first, as the parser of `app` takes them.
/// Of `--state=` it would take the next word for the value: it is two words
/// here, the second empty.
std::vector<std::string> WordsFromTheBack(const CLI::App& app, int argc,
                                          const char* const* argv);

/// "there is no option --sate, did you mean --state?", "unexpected argument
/// 'x'"; empty if nothing was left over.
std::string StrayArgument(const CLI::App& app);

/// How a positional argument is called: "FILE".
std::string ArgumentName(const CLI::Option& option);

}  // namespace leadline::flags
