// Work on a database that no coordinator has: the coordinator's program does
// it.

#pragma once

#include <string>

#include "cli/command.h"

namespace leadline::cli {

struct OfflineWork {
  std::string word;  // "fsck"
  std::string file;  // a backup; empty: none
  bool needs_state = true;
};

/// Becomes `leadline-coordinator WORD [FILE] [--state DIR]`: output and exit
/// code are its own, and this returns only if it cannot start. InvalidArgument
/// where a state folder is needed and a coordinator elsewhere was named instead
/// of one. A file that is not there is told before that.
absl::Status BecomeOfflineProgram(Context& context, const OfflineWork& work);

}  // namespace leadline::cli
