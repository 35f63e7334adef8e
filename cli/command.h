// What a command is, and what main gives it.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "cli/connection.h"
#include "cli/interrupts.h"
#include "cli/output.h"
#include "cli/place.h"

namespace CLI {
class App;
}

namespace leadline::cli {

/// One invocation of the program.
struct Context {
  Output& output;
  Interrupts& interrupts;
  PlaceOptions place;
  std::string command;  // "run"

  /// Reaches the coordinator that was named, or the local one. `slots` and
  /// `wants_work` go to a private coordinator.
  absl::StatusOr<std::unique_ptr<Connection>> Connect(bool wants_work = false,
                                                      int64_t slots = 0) const;
};

/// Does what the command is for. OK is exit code 0; see ExitCodeOf.
using Action = std::function<absl::Status(Context&)>;

struct Command {
  std::string name;
  std::string summary;   // one line
  std::string examples;  // lines of "command  # what it does"
  /// Adds arguments and options. The action reads what they were set to.
  std::function<Action(CLI::App&)> declare;
};

}  // namespace leadline::cli
