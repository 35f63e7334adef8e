// What is done to so many trials of a sweep that one step would hold everybody
// up: it is noted, and carried out part by part. To people it is one thing:
// meanwhile nothing of the sweep starts, and they are answered when all is
// done.

#pragma once

#include <cstdint>
#include <string>

#include "coordinator/control/step.h"

namespace leadline::control {

/// True if some sweep has one.
bool HasErrands(const State& state);
/// True if that sweep has one.
bool IsBusy(const State& state, SweepId sweep);

/// Notes it, to be carried out after those the sweep has; once, if it has one
/// of the kind.
void Begin(Step& step, const storage::ErrandRecord& errand);

/// "it is being cancelled": why nothing of the sweep starts. It has an errand.
std::string ErrandText(const Sweep& sweep);

void Apply(Step& step, const CarryOn& command);

}  // namespace leadline::control
