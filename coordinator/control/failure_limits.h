// `limits.failures` and `limits.failures_in_row` of a sweep: when they are
// reached, and what then becomes of the rest.

#pragma once

#include "coordinator/control/step.h"

namespace leadline::control {

/// Stops the sweep if it has as many failed trials as its limits allow: nothing
/// of it starts any more, and what runs is stopped or finishes, as it asks for.
void CheckLimits(Step& step, SweepId sweep);

/// Cancels what is queued in stopped sweeps, each trial with whether it ever
/// began.
void CancelWhatWaits(Step& step);

}  // namespace leadline::control
