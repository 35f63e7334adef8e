// What people ask of sweeps: add one, cancel what has not ended.

#pragma once

#include "coordinator/control/step.h"

namespace leadline::control {

/// The change that adds a sweep under its id, cells cut into cohorts.
storage::AddSweep BuildSweep(const NewSweep& sweep, SweepId id);

/// Answers SubmitAnswer. InvalidArgument if the request id stands for another
/// request.
void Apply(Step& step, const SubmitSweep& command);

/// Answers CancelAnswer. NotFound if the target is not among the unfinished
/// sweeps; InvalidArgument as above.
void Apply(Step& step, const CancelTarget& command);

}  // namespace leadline::control
