// Sweeps that are paused and resumed.
//
// Stopping is done in two phases. An attempt is asked to stop, which is on disk
// before its agent is told; once the agent confirms that its processes are
// gone, the attempt ends as preempted and its trials are suspended, and only a
// resume makes them placeable again.

#pragma once

#include "coordinator/control/step.h"

namespace leadline::control {

/// Answers PauseAnswer. NotFound if the sweep is not among the unfinished ones;
/// InvalidArgument if the request id stands for another request. The same holds
/// for ResumeAnswer.
void Apply(Step& step, const PauseSweep& command);
void Apply(Step& step, const ResumeSweep& command);

/// Tells the agent to stop an attempt that was asked to, if it is there: the
/// first order may have been lost.
void TellToStop(Step& step, const LiveAttempt& live);

}  // namespace leadline::control
