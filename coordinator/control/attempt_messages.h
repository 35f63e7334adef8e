// What agents say of the attempts that they hold.

#pragma once

#include "coordinator/control/step.h"

namespace leadline::control {

void Apply(Step& step, const AttemptStarted& command);
void Apply(Step& step, const AttemptWaiting& command);
void Apply(Step& step, const AttemptRefused& command);
void Apply(Step& step, const AttemptEnded& command);

}  // namespace leadline::control
