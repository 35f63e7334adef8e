// Agents as they come, speak and go, and the leases of what they hold.

#pragma once

#include "coordinator/control/step.h"

namespace leadline::control {

/// Takes the node in, or has it wait while another agent of its name is heard.
/// What it says it holds goes on; what it should hold and does not is
/// superseded.
void Apply(Step& step, const NodeRegistered& command);

/// Makes the trials of its attempts unreachable until it is back or their
/// grace is over.
void Apply(Step& step, const NodeLost& command);

void Apply(Step& step, const Heartbeat& command);

/// Ends leases and graces that have run out, and streams without a sound.
void CheckLeases(Step& step);

/// Makes what is live in the store unreachable until its agent is back: after a
/// restart.
void MakeAllUnreachable(Step& step, const std::string& reason);

}  // namespace leadline::control
