// Answers why a sweep or a trial is where it is. Changes nothing.

#pragma once

#include "coordinator/control/step.h"

namespace leadline::control {

/// Answers Explanation. NotFound unless the sweep is in memory: then it has
/// ended, and the store tells all there is.
void Apply(Step& step, const ExplainTarget& command);

}  // namespace leadline::control
