// What people ask of sweeps: add one, cancel what has not ended.

#pragma once

#include <span>

#include "coordinator/control/step.h"

namespace leadline::control {

/// What is said of trials that people cancel.
inline constexpr char kCancelledByCommand[] = "cancelled by command";

/// The change that adds a sweep under its id, cells cut into cohorts.
storage::AddSweep BuildSweep(const NewSweep& sweep, SweepId id);

/// The same of some of its cells, whose first has that number.
storage::AddSweep BuildPart(const NewSweep& sweep,
                            std::span<const NewCell> cells, SweepId id,
                            int64_t first_cell);

/// Answers SubmitAnswer. InvalidArgument if the request id stands for another
/// request.
void Apply(Step& step, const SubmitSweep& command);

/// Answers CancelAnswer; what is too much for one step is begun. NotFound if
/// the target is not among the unfinished sweeps; InvalidArgument as above.
void Apply(Step& step, const CancelTarget& command);

}  // namespace leadline::control
