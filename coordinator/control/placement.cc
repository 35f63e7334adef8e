#include "coordinator/control/placement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "coordinator/control/candidates.h"
#include "coordinator/control/failure_limits.h"
#include "coordinator/control/quarantine.h"
#include "coordinator/scheduler/schedule.h"
#include "model/spec/identity.h"

namespace leadline::control {
namespace {

constexpr char kNobodyWantsWork[] =
    "no command waits for it: `leadline run` or `leadline submit --wait` "
    "trains it";

/// Nodes with processes of an attempt that counts no more: until they are gone
/// the next one of the cohort waits.
std::map<CohortId, const Node*> WhereOldOnesEnd(const State& state) {
  std::map<CohortId, const Node*> where;
  for (const auto& [name, node] : state.nodes) {
    for (const auto& [key, devices] : node.held) where[key.cohort] = &node;
  }
  return where;
}

/// Since this coordinator began.
bool HasRegistered(const State& state, const std::string& name) {
  const auto node = state.nodes.find(name);
  return node != state.nodes.end() && !node->second.instance.empty();
}

/// Why the cohort must wait for processes to end; empty if it need not, or has
/// waited as long as any lease could have lasted.
std::string MustWaitForEnd(const Step& step, const Cohort& cohort,
                           const std::map<CohortId, const Node*>& where) {
  const SteadyTime::duration patience = PatienceWithNodes(step.policy);
  const auto found = where.find(cohort.record.id);
  if (found == where.end()) {
    // Its agent was told to end it by another coordinator, or was not.
    const bool is_over = step.now.steady - step.state.began > patience ||
                         HasRegistered(step.state, cohort.cancelled_on);
    return cohort.cancelled_on.empty() || is_over
               ? ""
               : "the attempt before it may still run on node " +
                     cohort.cancelled_on + ", which has not registered yet";
  }
  const Node& node = *found->second;
  // One that is not heard could not be told to end them, but renews them no
  // more either. One that has come back was told as it came.
  SteadyTime since = node.heard;
  if (node.session) {
    since = std::max(cohort.ended_at.value_or(step.state.began),
                     node.connection ? node.connection->steady : since);
  }
  if (step.now.steady - since > patience) return "";
  return "the attempt before it is still being ended on node " + node.name;
}

/// Why the cohort must wait whatever is free; empty if it need not.
std::string MustWait(const Step& step, Cohort& cohort) {
  if (!cohort.retry_at) return "";
  if (*cohort.retry_at <= step.now.steady) {
    cohort.retry_at.reset();
    return "";
  }
  const Seconds left = *cohort.retry_at - step.now.steady;
  return cohort.retry_reason + "; tries again in " +
         std::to_string(static_cast<int64_t>(std::ceil(left.count()))) + " s";
}

/// True if some attempt of the sweep lives on a node that is heard.
bool HasReachable(State& state, SweepId sweep) {
  for (auto at = state.live.lower_bound({{sweep, 0}, 0});
       at != state.live.end() && at->cell.sweep == sweep; ++at) {
    for (const storage::TrialRecord& trial : state.FindCohort(*at)->trials) {
      if (trial.state == TrialState::kLeased ||
          trial.state == TrialState::kRunning) {
        return true;
      }
    }
  }
  return false;
}

/// The first of a sweep's waiting cohorts speaks for it.
class Reasons {
 public:
  explicit Reasons(State& state) : state_(state) {
    for (auto& [id, sweep] : state_.sweeps) {
      sweep.waiting_for.clear();
      sweep.can_run = HasReachable(state_, id);
    }
  }

  void Give(const CohortId& cohort, const std::string& reason,
            bool infeasible) {
    Sweep& sweep = *state_.FindSweep(cohort.cell.sweep);
    Cohort& waiting = *state_.FindCohort(cohort);
    waiting.deferral = reason;
    waiting.infeasible = infeasible;
    if (sweep.waiting_for.empty()) sweep.waiting_for = reason;
    if (!infeasible) sweep.can_run = true;
  }

 private:
  State& state_;
};

scheduler::Snapshot TakeSnapshot(Step& step, Reasons& reasons) {
  scheduler::Snapshot snapshot;
  for (const auto& [name, node] : step.state.nodes) {
    if (node.session) {
      snapshot.nodes.push_back(ViewOf(node, step.now.steady));
    }
  }
  for (const auto& [id, sweep] : step.state.sweeps) {
    if (const auto limit = sweep.record.parallel_limit) {
      snapshot.limits.push_back(
          {id, *limit, *limit - step.state.CountLive(id)});
    }
  }
  const auto where = WhereOldOnesEnd(step.state);
  for (const CohortId& id : step.state.waiting) {
    const Sweep& sweep = *step.state.FindSweep(id.cell.sweep);
    if (sweep.record.state != SweepState::kActive) continue;
    Cohort& cohort = *step.state.FindCohort(id);
    const std::string old_ends = MustWaitForEnd(step, cohort, where);
    cohort.waits_for_end = !old_ends.empty();
    std::string wait = MustWait(step, cohort);
    if (wait.empty()) wait = old_ends;
    if (!wait.empty()) {
      reasons.Give(id, wait, false);
      continue;
    }
    snapshot.queue.push_back(RequestOf(step, cohort));
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
  cohort.cancelled_on.clear();
  cohort.deferral.clear();
  NoteStart(step, node.name, key);
  if (cohort.record.waits_after) {
    storage::CohortRecord standing = cohort.record;
    standing.waits_after.reset();
    step.Do(storage::SetStanding{std::move(standing)});
  }
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
  CancelWhatWaits(step);
  step.state.must_place = false;
  step.state.planned_at = step.now.steady;
  Reasons reasons(step.state);
  if (!step.state.work_wanted) {
    for (const CohortId& id : step.state.waiting) {
      reasons.Give(id, kNobodyWantsWork, true);
    }
    return;
  }
  const scheduler::Plan plan = scheduler::Schedule(TakeSnapshot(step, reasons));
  bool begins_canary = false;
  for (const scheduler::Placement& placement : plan.placements) {
    const Node& node = step.state.nodes.at(placement.node);
    begins_canary = begins_canary || node.record.quarantined;
    Start(step, placement);
    step.state.FindSweep(placement.cohort.cell.sweep)->can_run = true;
  }
  for (const scheduler::Deferral& deferral : plan.deferrals) {
    reasons.Give(deferral.cohort, deferral.reason, deferral.infeasible);
  }
  for (const auto& [id, sweep] : step.state.sweeps) step.Touch(id);
  // The moves above are this round's own; but what others wait for is another
  // thing once a canary has begun.
  step.state.must_place = begins_canary;
}

}  // namespace leadline::control
