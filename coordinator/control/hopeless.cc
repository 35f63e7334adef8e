#include "coordinator/control/hopeless.h"

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
    step.Move(trial, TrialState::kFailed,
              (says ? trial.reason + "; " : name + ": ") + why);
    NoteFailure(step, last, trial.id, kind, why, true);
  }
  CheckLimits(step, id.cell.sweep);
  CompleteIfDone(step, id.cell.sweep);
}

}  // namespace

void FailWhatIsHopeless(Step& step) {
  // Where nobody wants work done, no agent is called.
  if (!step.state.work_wanted) return;
  const std::vector<CohortId> waiting(step.state.waiting.begin(),
                                      step.state.waiting.end());
  for (const CohortId& id : waiting) {
    // Its sweep may have been stopped by the one before.
    const Cohort& cohort = *step.state.FindCohort(id);
    const SweepState state = step.state.FindSweep(id.cell.sweep)->record.state;
    if (state != SweepState::kActive || !cohort.Waits()) continue;
    const std::string why = WhyHopeless(step, cohort);
    if (!why.empty()) Fail(step, id, why);
  }
}

}  // namespace leadline::control
