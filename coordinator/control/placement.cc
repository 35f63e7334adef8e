#include "coordinator/control/placement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "coordinator/scheduler/schedule.h"
#include "model/spec/identity.h"

namespace leadline::control {
namespace {

constexpr char kNobodyWantsWork[] =
    "no command waits for it: `leadline run` or `leadline submit --wait` "
    "trains it";

scheduler::NodeView ViewOf(const Node& node) {
  std::set<std::string> taken;
  for (const auto& [key, devices] : node.held) {
    taken.insert(devices.begin(), devices.end());
  }
  std::map<std::string, scheduler::DeviceGroup> groups;
  for (const DeviceInfo& device : node.devices) {
    scheduler::DeviceGroup& group = groups[device.type];
    group.type = device.type;
    ++group.total;
    if (!taken.contains(device.id)) group.free.push_back(device.id);
  }
  scheduler::NodeView view;
  view.name = node.name;
  for (auto& [type, group] : groups) view.groups.push_back(std::move(group));
  return view;
}

/// Why the cohort must wait whatever is free; empty if it need not.
std::string MustWait(const Step& step, const Cohort& cohort) {
  if (!cohort.retry_at || *cohort.retry_at <= step.now.steady) return "";
  const Seconds left = *cohort.retry_at - step.now.steady;
  return cohort.retry_reason + "; tries again in " +
         std::to_string(static_cast<int64_t>(std::ceil(left.count()))) + " s";
}

/// The first of a sweep's waiting cohorts speaks for it.
class Reasons {
 public:
  explicit Reasons(State& state) : state_(state) {
    for (auto& [id, sweep] : state_.sweeps) {
      sweep.waiting_for.clear();
      sweep.can_run = state_.CountLive(id) > 0;
    }
  }

  void Give(const CohortId& cohort, const std::string& reason,
            bool infeasible) {
    Sweep& sweep = *state_.FindSweep(cohort.cell.sweep);
    if (sweep.waiting_for.empty()) sweep.waiting_for = reason;
    if (!infeasible) sweep.can_run = true;
  }

 private:
  State& state_;
};

scheduler::Snapshot TakeSnapshot(Step& step, Reasons& reasons) {
  scheduler::Snapshot snapshot;
  for (const auto& [name, node] : step.state.nodes) {
    if (node.session) snapshot.nodes.push_back(ViewOf(node));
  }
  for (const auto& [id, sweep] : step.state.sweeps) {
    if (const auto limit = sweep.record.parallel_limit) {
      snapshot.limits.push_back(
          {id, *limit, *limit - step.state.CountLive(id)});
    }
  }
  for (const CohortId& id : step.state.waiting) {
    const Sweep& sweep = *step.state.FindSweep(id.cell.sweep);
    if (sweep.record.state != SweepState::kActive) continue;
    const std::string wait = MustWait(step, *step.state.FindCohort(id));
    if (!wait.empty()) {
      reasons.Give(id, wait, false);
      continue;
    }
    const Cell& cell = *step.state.FindCell(id.cell);
    snapshot.queue.push_back(
        {id, sweep.record.priority, cell.devices, cell.cpu_slots});
  }
  return snapshot;
}

void Start(Step& step, const scheduler::Placement& placement) {
  Node& node = step.state.nodes.at(placement.node);
  Cohort& cohort = *step.state.FindCohort(placement.cohort);
  if (!node.session || !cohort.Waits()) return;
  storage::AttemptRecord attempt;
  attempt.key = {placement.cohort, cohort.record.attempts + 1};
  attempt.node = node.name;
  attempt.instance = node.instance;
  attempt.devices = placement.devices;
  attempt.started_at = step.now.wall;
  const AttemptKey key = attempt.key;
  step.Do(storage::StartAttempt{std::move(attempt)});
  cohort.live->renewed = step.now.steady;
  cohort.retry_at.reset();
  node.held[key] = placement.devices;

  const Cell& cell = *step.state.FindCell(placement.cohort.cell);
  StartOrder order{key, {}, {}, cell.record.dataset, placement.devices, {}};
  // A whole cohort trains each time, those included that have ended: numbers
  // may depend on who trains beside whom.
  for (size_t r = 0; r < cohort.trials.size(); ++r) {
    const storage::TrialRecord trial = cohort.trials[r];
    order.seeds.push_back(trial.seed);
    order.trials.push_back(trial.id);
    if (trial.state == TrialState::kQueued) {
      step.Move(trial, TrialState::kLeased, "");
    }
  }
  const auto settings = spec::ReadSettingsJson(cell.record.settings_json);
  if (const auto* read = std::get_if<spec::Settings>(&settings)) {
    order.settings = read->values();
  }
  step.Tell(*node.session, std::move(order));
}

}  // namespace

void Place(Step& step) {
  if (!step.state.must_place) return;
  step.state.must_place = false;
  Reasons reasons(step.state);
  if (!step.state.work_wanted) {
    for (const CohortId& id : step.state.waiting) {
      reasons.Give(id, kNobodyWantsWork, true);
    }
    return;
  }
  const scheduler::Plan plan = scheduler::Schedule(TakeSnapshot(step, reasons));
  for (const scheduler::Placement& placement : plan.placements) {
    Start(step, placement);
    step.state.FindSweep(placement.cohort.cell.sweep)->can_run = true;
  }
  for (const scheduler::Deferral& deferral : plan.deferrals) {
    reasons.Give(deferral.cohort, deferral.reason, deferral.infeasible);
  }
  for (const auto& [id, sweep] : step.state.sweeps) step.Touch(id);
  // The moves above are this round's own.
  step.state.must_place = false;
}

}  // namespace leadline::control
