// Starts attempts: snapshot, plan, and what of the plan still holds.

#pragma once

#include "coordinator/control/step.h"

namespace leadline::control {

/// Places what waits, if anything a placement rests on has moved. Whatever
/// stays behind gets its reason.
void Place(Step& step);

}  // namespace leadline::control
