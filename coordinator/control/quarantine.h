// What is held against nodes. One on which attempts fail in a row as broken
// machines make them fail takes no work: after a wait that doubles, one attempt
// at a time shows whether it is well again.

#pragma once

#include <string>

#include "coordinator/control/failure_policy.h"
#include "coordinator/control/standing.h"
#include "coordinator/control/step.h"

namespace leadline::control {

/// Holds a failure that CountEnd has counted against its node. If that puts the
/// node into quarantine, or it is there already, those it hit get their tries
/// back: unless the failure is a canary's and no other node could tell the
/// machine from the code.
void HoldAgainst(Step& step, const EndedAttempt& ended, FailureKind kind,
                 const std::string& message);

/// An attempt ended that says nothing of its node: if it was the canary,
/// another follows.
void NoteEnd(Step& step, const EndedAttempt& ended);

/// An attempt on the node gave all its results: nothing is held against it.
void NoteSuccess(Step& step, const std::string& node);

/// An attempt on the node trains well: it leaves its quarantine, but the next
/// one is longer.
void NoteHealth(Step& step, const std::string& node);

/// The node's attempt on trial, if it is in quarantine.
void NoteStart(Step& step, const std::string& node, const AttemptKey& attempt);

/// Why it takes no work as others do; empty if it does.
std::string WhyClosed(const Node& node, SteadyTime now);

/// True if it takes one attempt now, though it is in quarantine.
bool TakesCanary(const Node& node, SteadyTime now);

/// Sets when a node in quarantine takes its next canary, from what is stored.
void StartWait(const Policy& policy, Node& node, SteadyTime now);

}  // namespace leadline::control
