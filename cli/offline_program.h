// Work on a state folder that no coordinator has: the coordinator's program
// does it.

#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace leadline::cli {

/// Becomes `leadline-coordinator WORD... --state DIR`: output and exit code are
/// its own, and this returns only if it cannot start. InvalidArgument where a
/// coordinator elsewhere was named.
absl::Status BecomeOfflineProgram(Context& context,
                                  std::vector<std::string> words);

}  // namespace leadline::cli
