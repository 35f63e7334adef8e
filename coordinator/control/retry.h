// Queues trials again that ended without a result.

#pragma once

#include "coordinator/control/step.h"

namespace leadline::control {

/// Answers RetryAnswer; what is too much for one step is begun. Tries of their
/// cohorts count anew; a sweep that had ended is active again. NotFound, and
/// nothing is changed, if one of the targets is not there; InvalidArgument if
/// the request id stands for another request.
void Apply(Step& step, const RetryTargets& command);

/// Of one cohort what failed, and what was cancelled; returns how many trials
/// that were.
int64_t QueueAgain(Step& step, const Cohort& cohort, bool failed,
                   bool cancelled);

/// What ended because of its tries or its memory gets all of them again.
void ForgetTries(Step& step, const CohortId& cohort);

}  // namespace leadline::control
