// Queues trials again that ended without a result.

#pragma once

#include "coordinator/control/step.h"

namespace leadline::control {

/// Answers RetryAnswer. Tries of their cohorts count anew; a sweep that had
/// ended is active again. NotFound, and nothing is changed, if one of the
/// targets is not there; InvalidArgument if the request id stands for another
/// request.
void Apply(Step& step, const RetryTargets& command);

/// What ended because of its tries or its memory gets all of them again.
void ForgetTries(Step& step, const CohortId& cohort);

}  // namespace leadline::control
