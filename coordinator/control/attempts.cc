#include "coordinator/control/attempts.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <absl/status/status.h>

#include "common/utf8_prefix.h"
#include "coordinator/control/candidates.h"
#include "coordinator/control/failure_limits.h"
#include "coordinator/control/failure_policy.h"
#include "coordinator/control/parts.h"
#include "coordinator/control/quarantine.h"
#include "coordinator/control/retry.h"
#include "coordinator/control/standing.h"

namespace leadline::control {
namespace {

constexpr size_t kFailuresShown = 256;
constexpr size_t kLongestMessage = 2000;

/// Of each of the part's devices; empty where its node has not registered since
/// the coordinator began. 0: the node does not say.
std::vector<int64_t> MemoryOf(const State& state, const LivePart& part) {
  std::vector<int64_t> bytes;
  const auto node = state.nodes.find(part.node);
  if (node == state.nodes.end() || node->second.devices.empty()) return bytes;
  for (const std::string& id : part.devices) {
    const auto& devices = node->second.devices;
    const auto device = std::ranges::find(devices, id, &DeviceInfo::id);
    bytes.push_back(device == devices.end() ? 0 : device->memory_bytes);
  }
  return bytes;
}

/// Of all devices of the attempt together; 0 where some node does not say.
/// Those of nodes that are not known yet count as the largest of the others:
/// they are of one type.
int64_t MemoryOf(const State& state, const LiveAttempt& live) {
  int64_t bytes = 0;
  int64_t most = 0;
  int64_t unknown = 0;
  for (const LivePart& part : live.parts) {
    const std::vector<int64_t> known = MemoryOf(state, part);
    if (known.empty()) unknown += std::ssize(part.devices);
    for (const int64_t one : known) {
      if (one <= 0) return 0;
      bytes += one;
      most = std::max(most, one);
    }
  }
  return bytes + unknown * most;
}

/// Ends the live attempt, on all of its nodes; what is left of it says where
/// and how far it got.
EndedAttempt End(Step& step, const AttemptKey& key, AttemptOutcome outcome,
                 std::optional<FailureKind> kind, const std::string& message) {
  const LiveAttempt& live = *step.state.FindLive(key);
  EndedAttempt ended{key, "", live.step, MemoryOf(step.state, live)};
  for (const LivePart& part : live.parts) ended.nodes.push_back(part.node);
  if (live.parts.size() > 1) DismissParts(step, live, message);
  step.Do(storage::EndAttempt{key, outcome, kind, message, step.now.wall});
  step.state.FindCohort(key.cohort)->ended_at = step.now.steady;
  if (outcome == AttemptOutcome::kSucceeded) {
    for (const std::string& node : ended.nodes) NoteSuccess(step, node);
  }
  return ended;
}

bool IsOpen(TrialState state) { return !IsEnded(state); }

/// Why no other attempt follows; empty if one does.
std::string WhyFinal(const Step& step, const EndedAttempt& ended,
                     FailureKind kind) {
  const Cohort& cohort = *step.state.FindCohort(ended.key.cohort);
  const FailurePolicy& row = PolicyOf(kind);
  const std::string& stopped =
      step.state.FindSweep(ended.key.cohort.cell.sweep)->record.stopped_because;
  if (row.retry == RetryWhere::kNowhere) return "it would fail again";
  if (!stopped.empty()) return "not started again: " + stopped;
  if (row.uses_try && IsUsedUp(step.policy, cohort.record)) {
    return TriesText(step.policy, cohort.record);
  }
  if (row.retry == RetryWhere::kWithMoreMemory && ended.memory_bytes == 0) {
    return "node " + ended.nodes.front() +
           (ended.nodes.size() > 1 ? " or another of its nodes" : "") +
           " does not say how much memory it has";
  }
  return WhyHopeless(step, cohort);
}

}  // namespace

void NoteFailure(Step& step, const AttemptKey& key, const TrialId& trial,
                 FailureKind kind, const std::string& message, bool is_final) {
  Sweep& sweep = *step.state.FindSweep(key.cohort.cell.sweep);
  sweep.failures.push_back(
      {++sweep.failures_seen, trial, key, kind, message, is_final});
  if (sweep.failures.size() > kFailuresShown) sweep.failures.pop_front();
}

void FailAttempt(Step& step, const AttemptKey& key, FailureKind kind,
                 const std::string& message, const std::string& node) {
  const std::string text(Utf8Prefix(message, kLongestMessage));
  EndedAttempt ended = End(step, key, AttemptOutcome::kFailed, kind, text);
  ended.node = node;
  CountEnd(step, ended, kind);
  if (PolicyOf(kind).blame != Blame::kNone && !node.empty()) {
    HoldAgainst(step, ended, kind, text);
  }
  NoteEnd(step, ended);
  const std::string final = WhyFinal(step, ended, kind);
  std::string reason = std::string(Name(kind)) + ": " + text;
  if (!final.empty() && PolicyOf(kind).retry != RetryWhere::kNowhere) {
    reason += "; " + final;
  }
  Cohort& cohort = *step.state.FindCohort(key.cohort);
  for (const storage::TrialRecord& trial : TrialsWhere(cohort, IsHeld)) {
    step.Move(trial, final.empty() ? TrialState::kQueued : TrialState::kFailed,
              reason);
    NoteFailure(step, key, trial.id, kind, text, !final.empty());
  }
  if (final.empty()) {
    PutOff(step.policy, cohort, step.now.steady);
  } else {
    CheckLimits(step, key.cohort.cell.sweep);
    // Retried while this attempt went on without it: its tries begin anew.
    if (cohort.Waits()) ForgetTries(step, key.cohort);
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
  for (const storage::TrialRecord& trial : TrialsWhere(cohort, IsHeld)) {
    step.Move(trial, TrialState::kQueued, reason);
  }
  PutOff(step.policy, cohort, step.now.steady);
  CompleteIfDone(step, key.cohort.cell.sweep);
}

void Preempt(Step& step, const AttemptKey& key) {
  const std::string reason = step.state.FindLive(key)->record.stop_reason;
  const SweepId sweep = key.cohort.cell.sweep;
  NoteEnd(step,
          End(step, key, AttemptOutcome::kPreempted, std::nullopt, reason));
  const bool is_paused =
      step.state.FindSweep(sweep)->record.state == SweepState::kPaused;
  for (const storage::TrialRecord& trial :
       TrialsWhere(*step.state.FindCohort(key.cohort), IsHeld)) {
    const bool suspend = is_paused && trial.state == TrialState::kRunning;
    step.Move(trial, suspend ? TrialState::kSuspended : TrialState::kQueued,
              reason);
  }
}

void FinishAttempt(Step& step, const AttemptKey& key) {
  End(step, key, AttemptOutcome::kSucceeded, std::nullopt, "");
  CompleteIfDone(step, key.cohort.cell.sweep);
}

void CancelAttempt(Step& step, const AttemptKey& key,
                   const std::string& reason) {
  const EndedAttempt ended =
      End(step, key, AttemptOutcome::kCancelled, std::nullopt, reason);
  NoteEnd(step, ended);
  if (ended.nodes.size() > 1) return;  // they have been told
  TellNode(step, ended.nodes.front(), StopOrder{key, reason});
}

int64_t CancelOpenTrials(Step& step, Cohort& cohort,
                         const std::string& reason) {
  int64_t cancelled = 0;
  for (const storage::TrialRecord& trial : TrialsWhere(cohort, IsOpen)) {
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
  if (sweep.CountOpen() > 0 || !sweep.errands.empty()) return;
  if (step.state.CountLive(id) > 0) return;
  for (const Cell& cell : sweep.cells) {
    for (const Cohort& cohort : cell.cohorts) {
      if (cohort.HasOpenTrial()) return;
    }
  }
  step.Touch(id);
  step.Do(storage::MoveSweep{id, from, SweepState::kComplete});
}

}  // namespace leadline::control
