#include "coordinator/control/attempts.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <absl/status/status.h>

#include "common/utf8_prefix.h"
#include "coordinator/control/failure_limits.h"
#include "coordinator/control/failure_policy.h"
#include "coordinator/control/quarantine.h"
#include "coordinator/control/standing.h"
#include "coordinator/scheduler/schedule.h"

namespace leadline::control {
namespace {

constexpr size_t kFailuresShown = 256;
constexpr size_t kLongestMessage = 2000;

/// What its live attempt trains. Copies: moving a trial must not disturb the
/// walk.
std::vector<storage::TrialRecord> HeldTrials(const Cohort& cohort) {
  std::vector<storage::TrialRecord> held;
  for (const storage::TrialRecord& trial : cohort.trials) {
    if (IsHeld(trial.state)) held.push_back(trial);
  }
  return held;
}

/// Likewise, what has not ended.
std::vector<storage::TrialRecord> OpenTrials(const Cohort& cohort) {
  std::vector<storage::TrialRecord> open;
  for (const storage::TrialRecord& trial : cohort.trials) {
    if (!IsEnded(trial.state)) open.push_back(trial);
  }
  return open;
}

void NoteFailure(Step& step, const AttemptKey& key, const TrialId& trial,
                 FailureKind kind, const std::string& message, bool is_final) {
  Sweep& sweep = *step.state.FindSweep(key.cohort.cell.sweep);
  sweep.failures.push_back(
      {++sweep.failures_seen, trial, key, kind, message, is_final});
  if (sweep.failures.size() > kFailuresShown) sweep.failures.pop_front();
}

/// Of the attempt's devices together; 0 where its node does not know of one.
int64_t MemoryOf(const State& state, const LiveAttempt& live) {
  const auto node = state.nodes.find(live.record.node);
  if (node == state.nodes.end()) return 0;
  int64_t bytes = 0;
  for (const std::string& id : live.record.devices) {
    const auto& devices = node->second.devices;
    const auto device = std::ranges::find(devices, id, &DeviceInfo::id);
    if (device == devices.end() || device->memory_bytes <= 0) return 0;
    bytes += device->memory_bytes;
  }
  return bytes;
}

/// Ends the live attempt; what is left of it says where and how far it got.
EndedAttempt End(Step& step, const AttemptKey& key, AttemptOutcome outcome,
                 std::optional<FailureKind> kind, const std::string& message) {
  const LiveAttempt& live = *step.state.FindLive(key);
  EndedAttempt ended{key, live.record.node, live.step,
                     MemoryOf(step.state, live)};
  step.Do(storage::EndAttempt{key, outcome, kind, message, step.now.wall});
  step.state.FindCohort(key.cohort)->ended_at = step.now.steady;
  if (outcome == AttemptOutcome::kSucceeded) NoteSuccess(step, ended.node);
  return ended;
}

/// Agents that are there, or were a moment ago, or could not be yet.
bool MayHold(const Step& step, const Node& node) {
  const SteadyTime::duration patience =
      std::chrono::duration_cast<SteadyTime::duration>(step.policy.lease +
                                                       step.policy.grace);
  return node.session || step.now.steady - node.heard <= patience;
}

/// True if some node could do what those where the cohort failed cannot. While
/// agents are still coming back after a restart nobody knows: then it waits.
template <typename Better>
bool MayBeBetter(const Step& step, Better better) {
  const SteadyTime::duration patience =
      std::chrono::duration_cast<SteadyTime::duration>(step.policy.lease +
                                                       step.policy.grace);
  if (step.state.resumed && step.now.steady - step.state.began <= patience) {
    return true;
  }
  return std::ranges::any_of(step.state.nodes, [&](const auto& entry) {
    return MayHold(step, entry.second) && better(entry.second);
  });
}

/// Why no other attempt follows; empty if one does.
std::string WhyFinal(const Step& step, const EndedAttempt& ended,
                     FailureKind kind) {
  const Cohort& cohort = *step.state.FindCohort(ended.key.cohort);
  const Cell& cell = *step.state.FindCell(ended.key.cohort.cell);
  const FailurePolicy& row = PolicyOf(kind);
  const std::string& stopped =
      step.state.FindSweep(cell.record.id.sweep)->record.stopped_because;
  if (row.retry == RetryWhere::kNowhere) return "it would fail again";
  if (!stopped.empty()) return "not started again: " + stopped;
  if (row.uses_try && IsUsedUp(step.policy, cohort.record)) {
    return TriesText(step.policy, cohort.record);
  }
  if (row.retry == RetryWhere::kWithMoreMemory) {
    const int64_t tried = cohort.record.memory_tried;
    if (ended.memory_bytes == 0) {
      return "node " + ended.node + " does not say how much memory it has";
    }
    if (!MayBeBetter(step, [&](const Node& node) {
          return MostMemory(node, cell) > tried;
        })) {
      return "it ran out of " + scheduler::MemoryText(tried) +
             ", and no node has more";
    }
  }
  if (row.retry == RetryWhere::kOnOtherNode &&
      !MayBeBetter(step, [&](const Node& node) {
        return CouldHold(node, cell) &&
               !std::ranges::binary_search(cohort.record.failed_nodes,
                                           node.name);
      })) {
    return "there is no other node to try it on";
  }
  return "";
}

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
  // One told to end names no kind: its agent knows why it was told.
  if (live.end && live.end->failed && live.end->kind) {
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

void FailAttempt(Step& step, const AttemptKey& key, FailureKind kind,
                 const std::string& message) {
  const std::string text(Utf8Prefix(message, kLongestMessage));
  const EndedAttempt ended =
      End(step, key, AttemptOutcome::kFailed, kind, text);
  CountEnd(step, ended, kind);
  if (PolicyOf(kind).blame == Blame::kNone) {
    NoteEnd(step, ended);
  } else {
    HoldAgainst(step, ended, kind, text);
  }
  const std::string final = WhyFinal(step, ended, kind);
  std::string reason = std::string(Name(kind)) + ": " + text;
  if (!final.empty() && PolicyOf(kind).retry != RetryWhere::kNowhere) {
    reason += "; " + final;
  }
  Cohort& cohort = *step.state.FindCohort(key.cohort);
  for (const storage::TrialRecord& trial : HeldTrials(cohort)) {
    step.Move(trial, final.empty() ? TrialState::kQueued : TrialState::kFailed,
              reason);
    NoteFailure(step, key, trial.id, kind, text, !final.empty());
  }
  if (final.empty()) {
    PutOff(step.policy, cohort, step.now.steady);
  } else {
    CheckLimits(step, key.cohort.cell.sweep);
  }
  CompleteIfDone(step, key.cohort.cell.sweep);
}

void Supersede(Step& step, const AttemptKey& key, const std::string& reason) {
  const bool holds_some = step.state.FindCohort(key.cohort)->HasHeldTrial();
  const EndedAttempt ended =
      End(step, key,
          holds_some ? AttemptOutcome::kSuperseded : AttemptOutcome::kSucceeded,
          std::nullopt, reason);
  NoteEnd(step, ended);
  Cohort& cohort = *step.state.FindCohort(key.cohort);
  if (holds_some) CountEnd(step, ended, FailureKind::kAgentLost);
  for (const storage::TrialRecord& trial : HeldTrials(cohort)) {
    step.Move(trial, TrialState::kQueued, reason);
  }
  PutOff(step.policy, cohort, step.now.steady);
  CompleteIfDone(step, key.cohort.cell.sweep);
}

/// The processes of an attempt that was asked to stop are gone. No failure:
/// what it held waits for the reason to go, or is placed again where that has
/// gone already.
void Preempt(Step& step, const AttemptKey& key) {
  const std::string reason = step.state.FindLive(key)->record.stop_reason;
  const SweepId sweep = key.cohort.cell.sweep;
  NoteEnd(step,
          End(step, key, AttemptOutcome::kPreempted, std::nullopt, reason));
  const bool is_paused =
      step.state.FindSweep(sweep)->record.state == SweepState::kPaused;
  for (const storage::TrialRecord& trial :
       HeldTrials(*step.state.FindCohort(key.cohort))) {
    const bool suspend = is_paused && trial.state == TrialState::kRunning;
    step.Move(trial, suspend ? TrialState::kSuspended : TrialState::kQueued,
              reason);
  }
}

void CancelAttempt(Step& step, const AttemptKey& key,
                   const std::string& reason) {
  const EndedAttempt ended =
      End(step, key, AttemptOutcome::kCancelled, std::nullopt, reason);
  NoteEnd(step, ended);
  const auto found = step.state.nodes.find(ended.node);
  if (found != step.state.nodes.end() && found->second.session) {
    step.Tell(*found->second.session, StopOrder{key, reason});
  }
}

int64_t CancelOpenTrials(Step& step, Cohort& cohort,
                         const std::string& reason) {
  int64_t cancelled = 0;
  for (const storage::TrialRecord& trial : OpenTrials(cohort)) {
    step.Move(trial, TrialState::kCancelled, reason);
    ++cancelled;
  }
  if (cohort.live && !cohort.HasHeldTrial()) {
    CancelAttempt(step, AttemptKey(cohort.live->record.key), reason);
  }
  return cancelled;
}

int64_t CancelOpenTrials(Step& step, SweepId id, const std::string& reason) {
  int64_t cancelled = 0;
  for (Cell& cell : step.state.FindSweep(id)->cells) {
    for (Cohort& cohort : cell.cohorts) {
      cancelled += CancelOpenTrials(step, cohort, reason);
    }
  }
  return cancelled;
}

void CompleteIfDone(Step& step, SweepId id) {
  const Sweep& sweep = *step.state.FindSweep(id);
  const SweepState from = sweep.record.state;
  if (from != SweepState::kActive && from != SweepState::kPaused) return;
  if (sweep.CountEnded() < sweep.CountPlanned()) return;
  if (step.state.CountLive(id) > 0) return;
  for (const Cell& cell : sweep.cells) {
    for (const Cohort& cohort : cell.cohorts) {
      if (cohort.HasOpenTrial()) return;
    }
  }
  step.Touch(id);
  step.Do(storage::MoveSweep{id, from, SweepState::kComplete});
}

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
    End(step, command.attempt, AttemptOutcome::kSucceeded, std::nullopt, "");
    CompleteIfDone(step, command.attempt.cohort.cell.sweep);
    return;
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
