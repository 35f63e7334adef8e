// What people ask of nodes: how they stand, and to forget what is held against
// one.

#pragma once

#include "coordinator/control/step.h"

namespace leadline::control {

/// Answers NodesReport; changes nothing. NotFound if one was named that nobody
/// has heard of.
void Apply(Step& step, const LookAtNodes& command);

/// Answers ClearAnswer. NotFound likewise.
void Apply(Step& step, const ClearNode& command);

}  // namespace leadline::control
