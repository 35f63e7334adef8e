// What each command does, before it is decided anew what starts.

#pragma once

#include "coordinator/control/command.h"
#include "coordinator/control/step.h"

namespace leadline::control {

void Dispatch(Step& step, const Command& command);

}  // namespace leadline::control
