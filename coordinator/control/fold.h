// How the durable half of the state moves: with committed changes, and with
// what is read from the store.

#pragma once

#include <absl/status/status.h>

#include "coordinator/control/state.h"
#include "storage/store.h"

namespace leadline::control {

/// Moves the durable half as a committed change does.
void Fold(State& state, const storage::Change& change);

/// Takes over what the store holds. Live attempts get a lease from `now` on.
absl::Status Restore(State& state, const storage::SweepContents& contents,
                     SteadyTime now);

}  // namespace leadline::control
