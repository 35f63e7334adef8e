// What people ask of sweeps: add one, cancel what has not ended.

#pragma once

#include "coordinator/control/step.h"

namespace leadline::control {

/// Answers SubmitAnswer. InvalidArgument if the request id stands for another
/// request.
void Apply(Step& step, const SubmitSweep& command);

/// Answers CancelAnswer. NotFound if the target is not among the unfinished
/// sweeps; InvalidArgument as above.
void Apply(Step& step, const CancelTarget& command);

}  // namespace leadline::control
