// `limits.failures` and `limits.failures_in_row` of a sweep: when they are
// reached, and what then becomes of the rest.

#pragma once

#include "coordinator/control/step.h"

namespace leadline::control {

/// Stops the sweep if it has as many failed trials as its limits allow: nothing
/// of it starts any more, and what runs is stopped or finishes, as it asks for.
void CheckLimits(Step& step, SweepId sweep);

/// Cancels what must not go on of a cohort whose sweep was stopped; returns how
/// many trials that were: none if the stop has been lifted.
int64_t StopCohort(Step& step, Cohort& cohort);

/// Cancels what is queued in stopped sweeps, each trial with whether it ever
/// began; what is too much for one step is begun.
void CancelWhatWaits(Step& step);

}  // namespace leadline::control
