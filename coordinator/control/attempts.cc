#include "coordinator/control/attempts.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <absl/status/status.h>

#include "common/random_stream.h"
#include "common/utf8_prefix.h"

namespace leadline::control {
namespace {

constexpr size_t kFailuresShown = 256;
constexpr size_t kLongestMessage = 2000;

/// Doubles with each failure; the jitter is the cohort's own, so that those
/// that failed together do not come back together.
Seconds Backoff(const Policy& policy, const AttemptKey& attempt,
                int64_t failures) {
  const Seconds wait =
      policy.first_backoff *
      std::pow(2.0,
               static_cast<double>(std::clamp<int64_t>(failures - 1, 0, 30)));
  const double jitter = RandomStream(0, "backoff/" + ToText(attempt.cohort))
                            .Uniform(attempt.number);
  return std::min(wait, policy.longest_backoff) * (1 + jitter / 4);
}

/// Sets when the cohort is tried again, and what is told until then.
void PutOff(Step& step, const AttemptKey& key, FailureKind kind,
            const std::string& reason) {
  Cohort& cohort = *step.state.FindCohort(key.cohort);
  const int64_t failures = cohort.record.failures;
  const Seconds wait = UsesUpTry(kind) ? Backoff(step.policy, key, failures)
                                       : step.policy.disk_wait;
  cohort.retry_at =
      step.now.steady + std::chrono::duration_cast<SteadyTime::duration>(wait);
  cohort.retry_reason =
      "attempt " + std::to_string(key.number) + " failed (" + reason + ")";
  if (UsesUpTry(kind)) {
    cohort.retry_reason += "; failure " + std::to_string(failures) + " of " +
                           std::to_string(step.policy.tries);
  }
}

/// Copies: moving a trial must not disturb the walk.
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

/// True if the sweep's limit of failed trials is reached.
bool IsOverLimit(const Sweep& sweep) {
  return sweep.record.failure_limit &&
         sweep.Count(TrialState::kFailed) >= *sweep.record.failure_limit;
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

bool IsRetryable(FailureKind kind) {
  switch (kind) {
    case FailureKind::kConfig:
    case FailureKind::kData:
    // The same devices have no more memory the next time.
    case FailureKind::kOom:
      return false;
    case FailureKind::kNcclInit:
    case FailureKind::kNccl:
    case FailureKind::kDevice:
    case FailureKind::kDisk:
    case FailureKind::kCrash:
    case FailureKind::kHang:
    case FailureKind::kAgentLost:
      return true;
  }
  return false;
}

void FailAttempt(Step& step, const AttemptKey& key, FailureKind kind,
                 const std::string& message) {
  const std::string text(Utf8Prefix(message, kLongestMessage));
  step.Do(storage::EndAttempt{key, AttemptOutcome::kFailed, kind, text,
                              step.now.wall});
  Cohort& cohort = *step.state.FindCohort(key.cohort);
  const bool is_final =
      !IsRetryable(kind) ||
      (UsesUpTry(kind) && cohort.record.failures >= step.policy.tries);
  const std::string reason = std::string(Name(kind)) + ": " + text;
  for (const storage::TrialRecord& trial : OpenTrials(cohort)) {
    step.Move(trial, is_final ? TrialState::kFailed : TrialState::kQueued,
              reason);
    NoteFailure(step, key, trial.id, kind, text, is_final);
  }
  const SweepId sweep = key.cohort.cell.sweep;
  if (!is_final) {
    PutOff(step, key, kind, reason);
  } else if (IsOverLimit(*step.state.FindSweep(sweep))) {
    CancelOpenTrials(step, sweep, "limits.failures of the sweep is reached");
  }
  CompleteIfDone(step, sweep);
}

void Supersede(Step& step, const AttemptKey& key, const std::string& reason) {
  const bool has_open = step.state.FindCohort(key.cohort)->HasOpenTrial();
  step.Do(storage::EndAttempt{
      key, has_open ? AttemptOutcome::kSuperseded : AttemptOutcome::kSucceeded,
      std::nullopt, reason, step.now.wall});
  for (const storage::TrialRecord& trial :
       OpenTrials(*step.state.FindCohort(key.cohort))) {
    step.Move(trial, TrialState::kQueued, reason);
  }
  CompleteIfDone(step, key.cohort.cell.sweep);
}

void CancelAttempt(Step& step, const AttemptKey& key,
                   const std::string& reason) {
  const std::string node = step.state.FindLive(key)->record.node;
  step.Do(storage::EndAttempt{key, AttemptOutcome::kCancelled, std::nullopt,
                              reason, step.now.wall});
  const auto found = step.state.nodes.find(node);
  if (found != step.state.nodes.end() && found->second.session) {
    step.Tell(*found->second.session, StopOrder{key, reason});
  }
}

int64_t CancelOpenTrials(Step& step, SweepId id, const std::string& reason) {
  int64_t cancelled = 0;
  for (Cell& cell : step.state.FindSweep(id)->cells) {
    for (Cohort& cohort : cell.cohorts) {
      for (const storage::TrialRecord& trial : OpenTrials(cohort)) {
        step.Move(trial, TrialState::kCancelled, reason);
        ++cancelled;
      }
      if (cohort.live && !cohort.HasOpenTrial()) {
        CancelAttempt(step, AttemptKey(cohort.live->record.key), reason);
      }
    }
  }
  return cancelled;
}

void CompleteIfDone(Step& step, SweepId id) {
  const Sweep& sweep = *step.state.FindSweep(id);
  if (sweep.record.state != SweepState::kActive) return;
  if (sweep.CountEnded() < sweep.CountPlanned()) return;
  if (step.state.CountLive(id) > 0) return;
  for (const Cell& cell : sweep.cells) {
    for (const Cohort& cohort : cell.cohorts) {
      if (cohort.HasOpenTrial()) return;
    }
  }
  step.Touch(id);
  step.Do(storage::MoveSweep{id, SweepState::kActive, SweepState::kComplete});
}

void Apply(Step& step, const AttemptStarted& command) {
  LiveAttempt* live = step.state.FindLive(command.attempt, command.session);
  if (!live) return;
  live->renewed = step.now.steady;
  live->waiting_for.clear();
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
  if (step.state.FindLive(command.attempt, command.session)) {
    FailAttempt(step, command.attempt, command.kind, command.message);
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
  if (!step.state.FindCohort(command.attempt.cohort)->HasOpenTrial()) {
    step.Do(storage::EndAttempt{command.attempt, AttemptOutcome::kSucceeded,
                                std::nullopt, "", step.now.wall});
    CompleteIfDone(step, command.attempt.cohort.cell.sweep);
    return;
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
