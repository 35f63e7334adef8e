// Attempts whose ranks are on several nodes: what is told to all of their
// agents, and what follows from what one of them says.

#pragma once

#include <string>

#include "coordinator/control/step.h"

namespace leadline::control {

/// Dropped if the node is not connected.
void TellNode(Step& step, const std::string& node, Order order);

/// The attempt ends: who holds some of it is told to end that, and whose ranks
/// have ended that it is known.
void DismissParts(Step& step, const LiveAttempt& live,
                  const std::string& reason);

/// One part has started its ranks, or says so again: keeps their process ids,
/// and tells all parts where all ranks listen once that is known.
void TakeStarted(Step& step, const AttemptStarted& command);

/// One part has all it needs: once all do, all are told to start.
void NoteReady(Step& step, const AttemptKey& key, LivePart& part);

/// The processes of one of several parts are gone. The attempt ends with the
/// last of them, or at once if that part failed. What failed only because other
/// ranks were gone waits for a moment: the cause may be told yet.
void EndPart(Step& step, const AttemptEnded& command, LivePart& part);

/// One of several parts could not start. The attempt ends.
void RefusePart(Step& step, const AttemptRefused& command, LivePart& part);

/// Time has passed: what waited for a better cause is believed.
void CheckSuspicions(Step& step);

/// What the end of a trainer means where it left trials open. `end` is what it
/// said last, where that was heard.
struct Verdict {
  FailureKind kind = FailureKind::kCrash;
  std::string message;
};
Verdict Judge(const AttemptEnded& ended, const std::optional<TrainerEnd>& end);

}  // namespace leadline::control
