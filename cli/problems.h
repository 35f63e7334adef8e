// What is wrong with a sweep file, carried by an error.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>

namespace leadline::cli {

/// `line` and `column` count from 1, in code points; 0 where no place applies.
struct Problem {
  std::string file;
  int64_t line = 0;
  int64_t column = 0;
  std::string message;
};

/// "file:line:column: message".
std::string ProblemLine(const Problem& problem);

/// An InvalidArgument error that carries all of them; its message has a line
/// each, its place is that of the first.
absl::Status ProblemsError(const std::vector<Problem>& problems);

/// Those an error carries; empty for other errors.
std::vector<Problem> ProblemsOf(const absl::Status& status);

}  // namespace leadline::cli
