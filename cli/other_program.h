// Another of our programs takes over.

#pragma once

#include <string>
#include <vector>

#include <absl/status/status.h>

#include "cli/output.h"

namespace leadline::cli {

/// Becomes the program of that name beside this one, called with `words`:
/// output and exit code are its own, and this returns only if it cannot start.
absl::Status BecomeProgram(Output& output, const std::string& name,
                           std::vector<std::string> words);

}  // namespace leadline::cli
