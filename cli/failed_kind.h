// The option --failed-kind of commands that list.

#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace leadline::cli {

/// Takes one of the kinds of failures that there are, and names them all where
/// it is none.
CLI::Option* AddFailedKind(CLI::App& app, std::string* kind);

}  // namespace leadline::cli
