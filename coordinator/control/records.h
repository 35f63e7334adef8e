// What trainers measured, on its way into the store.

#pragma once

#include "coordinator/control/step.h"

namespace leadline::control {

/// Takes the records of a live attempt that are new; those of any other are
/// kept apart and change nothing. Either way they are acknowledged. A gap in
/// the sequence ends the agent's stream: it begins again where the store ends.
void Apply(Step& step, const Records& command);

}  // namespace leadline::control
