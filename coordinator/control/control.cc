#include "coordinator/control/control.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "coordinator/control/attempts.h"
#include "coordinator/control/dispatch.h"
#include "coordinator/control/fold.h"
#include "coordinator/control/nodes.h"
#include "coordinator/control/placement.h"
#include "coordinator/control/progress.h"
#include "coordinator/control/quarantine.h"
#include "coordinator/control/standing.h"

namespace leadline::control {

absl::StatusOr<Control> Control::Make(
    Policy policy, bool work_wanted, SweepId next_sweep,
    const std::vector<storage::SweepContents>& unfinished, Moment now,
    const std::vector<storage::NodeRecord>& nodes) {
  Control control(policy);
  control.state_.next_sweep = next_sweep;
  control.state_.work_wanted = work_wanted;
  for (const storage::SweepContents& contents : unfinished) {
    absl::Status restored = Restore(control.state_, contents, now.steady);
    if (!restored.ok()) return restored;
  }
  for (const storage::NodeRecord& record : nodes) {
    Node& node = control.state_.nodes[record.name];
    node.name = record.name;
    node.record = record;
    StartWait(control.policy_, node, now.steady);
  }
  control.state_.began = now.steady;
  control.state_.agents_may_return = !unfinished.empty();
  control.PutOffWhatWaits(now.steady);
  return control;
}

void Control::PutOffWhatWaits(SteadyTime now) {
  for (const CohortId& id : state_.waiting) {
    Cohort& cohort = *state_.FindCohort(id);
    cohort.restarts_counted_at = now;
    PutOff(policy_, cohort, now);
  }
  for (const CohortId& id : state_.live) {
    state_.FindCohort(id)->restarts_counted_at = now;
  }
}

Outcome Control::Begin(Moment now) {
  Step step{state_, policy_, now, {}};
  MakeAllUnreachable(step, "the coordinator has been restarted");
  std::vector<SweepId> sweeps;
  for (const auto& [id, sweep] : state_.sweeps) sweeps.push_back(id);
  for (const SweepId id : sweeps) CompleteIfDone(step, id);
  // No node is there yet, but whatever waits gets its reason.
  state_.must_place = true;
  Place(step);
  return std::move(step.outcome);
}

Outcome Control::Apply(const Command& command, Moment now) {
  Step step{state_, policy_, now, {}};
  Dispatch(step, command);
  Place(step);
  return std::move(step.outcome);
}

SweepId Control::TakeNumber() {
  const SweepId number = state_.next_sweep;
  KeepNumber(number);
  return number;
}

void Control::KeepNumber(SweepId taken) {
  state_.next_sweep.value = std::max(state_.next_sweep.value, taken.value + 1);
}

std::optional<ProgressReport> Control::Progress(SweepId sweep) const {
  const auto found = state_.sweeps.find(sweep);
  if (found == state_.sweeps.end()) return std::nullopt;
  return Report(state_, found->second);
}

}  // namespace leadline::control
