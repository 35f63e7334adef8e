// What the store holds that the answer to a request rests on.

#pragma once

#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "coordinator/control/command.h"
#include "coordinator/control/state.h"
#include "storage/store.h"

namespace leadline::control {

/// True if it must be looked up for the command, and so all that waits to be
/// committed must be on disk before.
bool AsksTheStore(const Command& command);

/// Puts into the command what is stored now.
absl::Status LookUp(const storage::Store& store, const State& state,
                    Command& command);

/// Sweeps that a retry needs, looked up before, and that are in memory no more:
/// they are there for a while only when they have ended. InvalidArgument if
/// they are too many.
absl::StatusOr<std::vector<SweepId>> ToRecall(const State& state,
                                              const Command& command);

}  // namespace leadline::control
