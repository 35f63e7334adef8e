#include "coordinator/control/control.h"

#include <algorithm>
#include <utility>

#include <absl/status/status.h>

#include "coordinator/control/attempt_messages.h"
#include "coordinator/control/attempts.h"
#include "coordinator/control/explain.h"
#include "coordinator/control/fold.h"
#include "coordinator/control/hopeless.h"
#include "coordinator/control/housekeeping.h"
#include "coordinator/control/node_queries.h"
#include "coordinator/control/nodes.h"
#include "coordinator/control/overview.h"
#include "coordinator/control/parts.h"
#include "coordinator/control/pausing.h"
#include "coordinator/control/placement.h"
#include "coordinator/control/progress.h"
#include "coordinator/control/quarantine.h"
#include "coordinator/control/records.h"
#include "coordinator/control/retry.h"
#include "coordinator/control/standing.h"
#include "coordinator/control/sweeps.h"

namespace leadline::control {
namespace {

/// How long a sweep that has ended is remembered for those who watch it.
constexpr Seconds kMemory{10};

void Apply(Step& step, const LookAtSweep& command) {
  const Sweep* sweep = step.state.FindSweep(command.sweep);
  if (!sweep) {
    step.outcome.answer =
        absl::NotFoundError("no unfinished sweep " + ToText(command.sweep));
    return;
  }
  step.outcome.answer = Report(step.state, *sweep);
}

void Apply(Step& step, const ClientsWantWork& command) {
  step.state.work_wanted = command.wanted;
  step.state.must_place = true;
}

bool HasEnded(const Sweep& sweep) {
  return sweep.record.state == SweepState::kComplete ||
         sweep.record.state == SweepState::kCancelled;
}

void ForgetEndedSweeps(Step& step) {
  for (auto at = step.state.sweeps.begin(); at != step.state.sweeps.end();) {
    Sweep& sweep = at->second;
    if (!HasEnded(sweep)) {
      ++at;
      continue;
    }
    if (!sweep.ended_at) sweep.ended_at = step.now.steady;
    const bool forget = step.now.steady - *sweep.ended_at > kMemory &&
                        step.state.CountLive(at->first) == 0;
    at = forget ? step.state.sweeps.erase(at) : std::next(at);
  }
}

/// Until when it takes no canary is over, or is told with what waits for it.
bool WaitsForTime(const State& state, const Node& node) {
  return node.session && node.record.quarantined && !node.record.canary &&
         node.closed_until > state.planned_at;
}

/// Backoffs, quarantines and the reasons that name them move with the time.
bool SomethingWaitsForTime(const State& state) {
  if (!state.waiting.empty() &&
      std::ranges::any_of(state.nodes, [&](const auto& entry) {
        return WaitsForTime(state, entry.second);
      })) {
    return true;
  }
  for (const CohortId& id : state.waiting) {
    const Sweep& sweep = state.sweeps.at(id.cell.sweep);
    const Cohort& cohort = sweep.cells[id.cell.number - 1].cohorts[id.number];
    if (cohort.retry_at || cohort.waits_for_end) return true;
  }
  return false;
}

void Apply(Step& step, const Tick&) {
  CheckLeases(step);
  CheckSuspicions(step);
  ForgetEndedSweeps(step);
  FailWhatIsHopeless(step);
  SampleWork(step.state, step.now.steady);
  NoteWaits(step.state, step.now.steady);
  if (SomethingWaitsForTime(step.state)) step.state.must_place = true;
}

void Dispatch(Step& step, const Command& command) {
  std::visit([&](const auto& c) { Apply(step, c); }, command);
}

}  // namespace

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

std::optional<ProgressReport> Control::Progress(SweepId sweep) const {
  const auto found = state_.sweeps.find(sweep);
  if (found == state_.sweeps.end()) return std::nullopt;
  return Report(state_, found->second);
}

}  // namespace leadline::control
