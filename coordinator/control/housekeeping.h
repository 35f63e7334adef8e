// What people say of sweeps (notes, tags, the archive), and what they remove.

#pragma once

#include "coordinator/control/step.h"

namespace leadline::control {

/// Answers EditAnswer. NotFound if there is no such sweep; FailedPrecondition
/// if one that has not ended is to be archived; InvalidArgument if it would
/// have too many tags, or if the request id stands for another request.
void Apply(Step& step, const EditSweep& command);

/// Answers RemoveAnswer. All targets or none: NotFound and InvalidArgument as
/// above, FailedPrecondition if one of them has not ended.
void Apply(Step& step, const RemoveTargets& command);

}  // namespace leadline::control
