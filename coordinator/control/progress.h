// How far a sweep is, and how long it may still take.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/control/outcome.h"
#include "coordinator/control/state.h"

namespace leadline::control {

ProgressReport Report(const State& state, const Sweep& sweep);

/// That a sweep is paused, and what to do about it.
std::string PausedText(const Sweep& sweep);

/// Agents that are connected.
int64_t CountLiveAgents(const State& state);

/// Notes how much of every active sweep is done, for the estimate.
void SampleWork(State& state, SteadyTime now);

}  // namespace leadline::control
