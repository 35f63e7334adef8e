#include "coordinator/control/attempt_messages.h"

#include <optional>
#include <string>
#include <utility>

#include <absl/status/status.h>

#include "coordinator/control/attempts.h"

namespace leadline::control {
namespace {

/// The agent's processes of that attempt are gone.
void Release(Step& step, SessionId session, const AttemptKey& key) {
  Node* node = step.state.FindNode(session);
  if (!node) return;
  node->late_records.erase(key);
  if (node->held.erase(key) > 0) step.state.must_place = true;
}

/// What the end of a trainer means where it left trials open.
std::pair<FailureKind, std::string> Verdict(const AttemptEnded& ended,
                                            const LiveAttempt& live) {
  // One told to end names no kind: its agent knows why it was told. And of what
  // a trainer takes for a crash its agent may have found the cause.
  if (live.end && live.end->failed && live.end->kind &&
      (*live.end->kind != FailureKind::kCrash || !ended.kind)) {
    return {*live.end->kind, live.end->message};
  }
  if (ended.kind) return {*ended.kind, ended.message};
  std::string how = ended.signal != 0
                        ? "signal " + std::to_string(ended.signal)
                        : "exit code " + std::to_string(ended.exit_code);
  std::string text = "the trainer ended by " + how + " without all results";
  if (!ended.message.empty()) text += ": " + ended.message;
  return {FailureKind::kCrash, std::move(text)};
}

}  // namespace

void Apply(Step& step, const AttemptStarted& command) {
  LiveAttempt* live = step.state.FindLive(command.attempt, command.session);
  if (!live) return;
  live->renewed = step.now.steady;
  live->waiting_for.clear();
  live->pid = command.pid;
  storage::AttemptRecord about;
  about.key = command.attempt;
  about.dataset_path = command.dataset_path;
  about.device = command.device;
  step.Do(storage::DescribeAttempt{std::move(about)});
}

void Apply(Step& step, const AttemptWaiting& command) {
  LiveAttempt* live = step.state.FindLive(command.attempt, command.session);
  if (!live) return;
  live->waiting_for = command.message;
  step.Touch(command.attempt.cohort.cell.sweep);
}

void Apply(Step& step, const AttemptRefused& command) {
  Release(step, command.session, command.attempt);
  if (const auto* live =
          step.state.FindLive(command.attempt, command.session)) {
    if (live->record.stop_reason.empty()) {
      FailAttempt(step, command.attempt, command.kind, command.message);
    } else {
      Preempt(step, command.attempt);
    }
  }
  step.Tell(command.session, EndedAckOrder{command.attempt});
}

void Apply(Step& step, const AttemptEnded& command) {
  const LiveAttempt* speaker =
      step.state.FindLive(command.attempt, command.session);
  if (speaker && command.last_sequence > speaker->record.last_sequence) {
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
  step.Tell(command.session, EndedAckOrder{command.attempt});
  const LiveAttempt* live =
      step.state.FindLive(command.attempt, command.session);
  if (!live) return;
  step.Touch(command.attempt.cohort.cell.sweep);
  if (!step.state.FindCohort(command.attempt.cohort)->HasHeldTrial()) {
    return FinishAttempt(step, command.attempt);
  }
  if (!live->record.stop_reason.empty()) {
    return Preempt(step, command.attempt);
  }
  const auto [kind, message] = Verdict(command, *live);
  if (kind == FailureKind::kAgentLost) {
    // No fault of its own: it does not use up a try.
    Supersede(step, command.attempt, "agent_lost: " + message);
  } else {
    FailAttempt(step, command.attempt, kind, message);
  }
}

}  // namespace leadline::control
