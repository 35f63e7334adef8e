// The logs of a trial's attempts, one after the other: those that were, and
// those to come.

#pragma once

#include <cstdint>
#include <string>

#include <absl/status/status.h>

#include "cli/connection.h"
#include "cli/log_reader.h"
#include "cli/output.h"

namespace leadline::cli {

struct LogWalk {
  LogPlace from;        // of the first attempt; later ones begin at the same
  bool all = false;     // from the first attempt on
  bool follow = false;  // until the trial has ended
};

/// Prints each attempt's log under a heading. What follows waits for an attempt
/// that has not begun to write and for a node that is away, since the next
/// attempt may run elsewhere. NotFound if there is nothing to read; the error
/// of what could not be read, once the rest is shown.
absl::Status WalkLogs(Output& output, Connection& connection,
                      const LogWalk& walk);

}  // namespace leadline::cli
