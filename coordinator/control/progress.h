// How far a sweep is, and how long it may still take.

#pragma once

#include <vector>

#include "coordinator/control/outcome.h"
#include "coordinator/control/state.h"

namespace leadline::control {

ProgressReport Report(const State& state, const Sweep& sweep);

/// Notes how much of every active sweep is done, for the estimate.
void SampleWork(State& state, SteadyTime now);

}  // namespace leadline::control
