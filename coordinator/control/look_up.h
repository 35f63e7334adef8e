// What the store holds that the answer to a request rests on.

#pragma once

#include <absl/status/status.h>

#include "coordinator/control/command.h"
#include "coordinator/control/state.h"
#include "storage/store.h"

namespace leadline::control {

/// True if it must be looked up for the command, and so all that waits to be
/// committed must be on disk before.
bool AsksTheStore(const Command& command);

/// Puts into the command what is stored now. InvalidArgument if that were too
/// much to read at once.
absl::Status LookUp(const storage::Store& store, const State& state,
                    Command& command);

}  // namespace leadline::control
