#include "coordinator/control/failure_limits.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/control/attempts.h"
#include "coordinator/control/errands.h"

namespace leadline::control {
namespace {

/// Which limit is reached, in words; null if none is.
std::optional<std::string> LimitReached(const Sweep& sweep) {
  const storage::SweepRecord& record = sweep.record;
  const int64_t failed = sweep.Count(TrialState::kFailed);
  if (record.failure_limit && failed >= *record.failure_limit) {
    return "limits.failures is " + std::to_string(*record.failure_limit) +
           " and " + std::to_string(failed) +
           (failed == 1 ? " trial has failed" : " trials have failed");
  }
  const int64_t in_row = record.failures_in_row;
  if (record.failure_row_limit && in_row >= *record.failure_row_limit) {
    return "limits.failures_in_row is " +
           std::to_string(*record.failure_row_limit) + " and " +
           std::to_string(in_row) +
           (in_row == 1 ? " trial has failed" : " trials in a row have failed");
  }
  return std::nullopt;
}

bool IsQueued(TrialState state) { return state == TrialState::kQueued; }

std::string WhyCancelled(const Cohort& cohort, const std::string& because) {
  if (cohort.record.attempts == 0) return "never began: " + because;
  if (!cohort.live) return "not started again: " + because;
  return "stopped at step " + std::to_string(cohort.live->step) + ": " +
         because;
}

/// Of one that waits; what an attempt holds of it goes on.
int64_t CancelQueued(Step& step, const Cohort& cohort, const std::string& why) {
  if (!cohort.Waits()) return 0;
  const auto queued = TrialsWhere(cohort, IsQueued);
  for (const storage::TrialRecord& trial : queued) {
    step.Move(trial, TrialState::kCancelled, why);
  }
  return std::ssize(queued);
}

}  // namespace

void CheckLimits(Step& step, SweepId id) {
  Sweep& sweep = *step.state.FindSweep(id);
  if (!sweep.record.stopped_because.empty()) return;
  const auto because = LimitReached(sweep);
  if (!because) return;
  step.Touch(id);
  step.Do(storage::StopSweep{id, *because});
  if (sweep.record.on_failures != OnFailures::kStop) return;
  const bool is_busy = !sweep.errands.empty();
  if (!is_busy && sweep.CountOpen() <= step.policy.most_moves) {
    for (Cell& cell : sweep.cells) {
      for (Cohort& cohort : cell.cohorts) StopCohort(step, cohort);
    }
    return;
  }
  Begin(step, {id, std::nullopt, storage::ErrandKind::kStop});
  // Being queued again by people lifts the stop.
  if (is_busy) return;
  for (const CohortId& live : step.state.LiveOf(id)) {
    StopCohort(step, *step.state.FindCohort(live));
  }
}

int64_t StopCohort(Step& step, Cohort& cohort) {
  const storage::SweepRecord& sweep =
      step.state.FindSweep(cohort.record.id.cell.sweep)->record;
  if (sweep.stopped_because.empty()) return 0;
  const std::string why = WhyCancelled(cohort, sweep.stopped_because);
  return sweep.on_failures == OnFailures::kStop
             ? CancelOpenTrials(step, cohort, why)
             : CancelQueued(step, cohort, why);
}

void CancelWhatWaits(Step& step) {
  for (auto& [sweep, contents] : step.state.sweeps) {
    const std::string& because = contents.record.stopped_because;
    if (because.empty() || !step.state.IsWaiting(sweep)) continue;
    if (!contents.errands.empty()) continue;
    if (contents.Count(TrialState::kQueued) > step.policy.most_moves) {
      Begin(step, {sweep, std::nullopt, storage::ErrandKind::kStop});
      continue;
    }
    const std::set<CohortId>& waiting = step.state.waiting;
    const std::vector<CohortId> ids(
        waiting.lower_bound({{sweep, 0}, 0}),
        waiting.lower_bound({{{sweep.value + 1}, 0}, 0}));
    for (const CohortId& id : ids) {
      const Cohort& cohort = *step.state.FindCohort(id);
      CancelQueued(step, cohort, WhyCancelled(cohort, because));
    }
    CompleteIfDone(step, sweep);
  }
}

}  // namespace leadline::control
