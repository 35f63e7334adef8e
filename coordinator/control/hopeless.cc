#include "coordinator/control/hopeless.h"

#include <algorithm>
#include <string>
#include <vector>

#include "coordinator/control/attempts.h"
#include "coordinator/control/candidates.h"
#include "coordinator/control/failure_limits.h"

namespace leadline::control {
namespace {

/// What its last attempts failed of.
FailureKind KindOf(const Cohort& cohort) {
  return cohort.record.waits_after == FailureKind::kData ? FailureKind::kData
                                                         : FailureKind::kOom;
}

void Fail(Step& step, const CohortId& id, const std::string& why) {
  const Cohort& cohort = *step.state.FindCohort(id);
  const FailureKind kind = KindOf(cohort);
  const AttemptKey last{id, cohort.record.attempts};
  const auto is_queued = [](TrialState state) {
    return state == TrialState::kQueued;
  };
  for (const storage::TrialRecord& trial : TrialsWhere(cohort, is_queued)) {
    const std::string name(Name(kind));
    // What its attempt said is worth more than that it waited.
    const bool says = trial.reason.starts_with(name + ": ");
    std::string reason = says ? trial.reason + "; " : name + ": ";
    reason += why;
    step.Move(trial, TrialState::kFailed, reason);
    NoteFailure(step, last, trial.id, kind, why, true);
  }
  CheckLimits(step, id.cell.sweep);
  CompleteIfDone(step, id.cell.sweep);
}

/// All of a line ask for the same: its first stands for them.
std::vector<CohortId> MayBeHopeless(Step& step) {
  std::vector<CohortId> ids;
  for (const auto& [key, line] : step.state.lines.lines) {
    ++step.state.looked_at;
    if (key.demand.more_memory_than == 0 && key.demand.never.empty()) continue;
    const Cohort& first = *step.state.FindCohort(*line.cohorts.begin());
    if (WhyHopeless(step, first).empty()) continue;
    ids.insert(ids.end(), line.cohorts.begin(), line.cohorts.end());
  }
  for (const CohortId& id : step.state.lines.kept_back) {
    const storage::CohortRecord& record = step.state.FindCohort(id)->record;
    if (record.memory_tried > 0 || !record.failed_nodes.empty()) {
      ids.push_back(id);
    }
  }
  std::ranges::sort(ids);
  return ids;
}

}  // namespace

void FailWhatIsHopeless(Step& step) {
  // Where nobody wants work done, no agent is called.
  if (!step.state.work_wanted || MoreMayCome(step)) return;
  for (const CohortId& id : MayBeHopeless(step)) {
    ++step.state.looked_at;
    // Its sweep may have been stopped by the one before.
    const Cohort& cohort = *step.state.FindCohort(id);
    const Sweep& sweep = *step.state.FindSweep(id.cell.sweep);
    if (sweep.record.state != SweepState::kActive || !sweep.errands.empty() ||
        !cohort.Waits()) {
      continue;
    }
    const std::string why = WhyHopeless(step, cohort);
    if (!why.empty()) Fail(step, id, why);
  }
}

}  // namespace leadline::control
