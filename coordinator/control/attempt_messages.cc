#include "coordinator/control/attempt_messages.h"

#include <optional>
#include <string>
#include <utility>

#include <absl/status/status.h>

#include "coordinator/control/attempts.h"
#include "coordinator/control/parts.h"

namespace leadline::control {
namespace {

/// The agent's processes of that attempt are gone.
void Release(Step& step, SessionId session, const AttemptKey& key) {
  Node* node = step.state.FindNode(session);
  if (!node) return;
  node->late_records.erase(key);
  if (node->held.erase(key) > 0) step.state.must_place = true;
}

}  // namespace

void Apply(Step& step, const AttemptStarted& command) {
  const LivePart* part = step.state.FindPart(command.attempt, command.session);
  if (!part) return;
  // All parts have the same kind of device; one of them tells.
  if (part->first_rank == 0) {
    storage::AttemptRecord about;
    about.key = command.attempt;
    about.dataset_path = command.dataset_path;
    about.device = command.device;
    step.Do(storage::DescribeAttempt{std::move(about)});
  }
  TakeStarted(step, command);
}

void Apply(Step& step, const AttemptWaiting& command) {
  LivePart* part = step.state.FindPart(command.attempt, command.session);
  if (!part) return;
  part->waiting_for = command.message;
  step.Touch(command.attempt.cohort.cell.sweep);
  if (command.is_ready) NoteReady(step, command.attempt, *part);
}

void Apply(Step& step, const AttemptRefused& command) {
  Release(step, command.session, command.attempt);
  const LiveAttempt* live =
      step.state.FindLive(command.attempt, command.session);
  if (live && live->parts.size() > 1) {
    // Its agent waits for no answer.
    return RefusePart(step, command,
                      *step.state.FindPart(command.attempt, command.session));
  }
  if (live && live->record.stop_reason.empty()) {
    FailAttempt(step, command.attempt, command.kind, command.message,
                std::string(live->parts.front().node));
  } else if (live) {
    Preempt(step, command.attempt);
  }
  step.Tell(command.session, EndedAckOrder{command.attempt});
}

void Apply(Step& step, const AttemptEnded& command) {
  const LiveAttempt* speaker =
      step.state.FindLive(command.attempt, command.session);
  LivePart* part = step.state.FindPart(command.attempt, command.session);
  if (part && part->first_rank == 0 &&
      command.last_sequence > speaker->record.last_sequence) {
    // It overtook its records: judged without them, done work would be undone.
    step.Tell(
        command.session,
        CloseOrder{absl::InvalidArgumentError(
            "attempt " + ToText(command.attempt) + " ended at record " +
            std::to_string(command.last_sequence) + ", and only " +
            std::to_string(speaker->record.last_sequence) + " have arrived")});
    return;
  }
  Release(step, command.session, command.attempt);
  if (part && speaker->parts.size() > 1) return EndPart(step, command, *part);
  step.Tell(command.session, EndedAckOrder{command.attempt});
  const LiveAttempt* live = speaker;
  if (!live) return;
  step.Touch(command.attempt.cohort.cell.sweep);
  if (!step.state.FindCohort(command.attempt.cohort)->HasHeldTrial()) {
    return FinishAttempt(step, command.attempt);
  }
  if (!live->record.stop_reason.empty()) {
    return Preempt(step, command.attempt);
  }
  const auto [kind, message] = Judge(command, live->end);
  if (kind == FailureKind::kAgentLost) {
    // No fault of its own: it does not use up a try.
    Supersede(step, command.attempt, "agent_lost: " + message);
  } else {
    FailAttempt(step, command.attempt, kind, message,
                std::string(live->parts.front().node));
  }
}

}  // namespace leadline::control
