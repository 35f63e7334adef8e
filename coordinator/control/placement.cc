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
std::multimap<CohortId, const Node*> WhereOldOnesEnd(const State& state) {
  std::multimap<CohortId, const Node*> where;
  for (const auto& [name, node] : state.nodes) {
    for (const auto& [key, devices] : node.held) {
      where.emplace(key.cohort, &node);
    }
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
                           const std::multimap<CohortId, const Node*>& where) {
  const SteadyTime::duration patience = PatienceWithNodes(step.policy);
  const auto [first, last] = where.equal_range(cohort.record.id);
  for (auto at = first; at != last; ++at) {
    const Node& node = *at->second;
    // One that is not heard could not be told to end them, but renews them no
    // more either. One that has come back was told as it came.
    SteadyTime since = node.heard;
    if (node.session) {
      since = std::max(cohort.ended_at.value_or(step.state.began),
                       node.connection ? node.connection->steady : since);
    }
    if (step.now.steady - since > patience) continue;
    return "the attempt before it is still being ended on node " + node.name;
  }
  // Agents were told to end it by another coordinator, or were not.
  if (step.now.steady - step.state.began > patience) return "";
  for (const std::string& name : cohort.cancelled_on) {
    if (HasRegistered(step.state, name)) continue;
    return "the attempt before it may still run on node " + name +
           ", which has not registered yet";
  }
  return "";
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

storage::AttemptRecord AttemptOf(const Step& step, const Cohort& cohort,
                                 const scheduler::Placement& placement) {
  storage::AttemptRecord attempt;
  attempt.key = {placement.cohort, cohort.record.attempts + 1};
  attempt.instance = step.state.nodes.at(placement.parts.front().node).instance;
  attempt.started_at = step.now.wall;
  for (const scheduler::Part& part : placement.parts) {
    attempt.node += (attempt.node.empty() ? "" : "+") + part.node;
    attempt.devices.insert(attempt.devices.end(), part.devices.begin(),
                           part.devices.end());
    const int64_t each = std::ssize(part.devices) / part.ranks;
    for (int64_t rank = 0; rank < part.ranks; ++rank) {
      const auto first = part.devices.begin() + rank * each;
      attempt.ranks.push_back({part.node, {first, first + each}, 0});
    }
  }
  return attempt;
}

/// What all of its parts are told alike.
StartOrder OrderFor(Step& step, const AttemptKey& key) {
  const Cell& cell = *step.state.FindCell(key.cohort.cell);
  StartOrder order{key, {}, {}, cell.record.dataset, {}, {}};
  const auto settings = spec::ReadSettingsJson(cell.record.settings_json);
  if (const auto* read = std::get_if<spec::Settings>(&settings)) {
    order.settings = read->values();
  }
  // A whole cohort trains each time, those included that have ended: numbers
  // may depend on who trains beside whom.
  for (const storage::TrialRecord& trial :
       step.state.FindCohort(key.cohort)->trials) {
    order.seeds.push_back(trial.seed);
    order.trials.push_back(trial.id);
  }
  return order;
}

bool MayStart(const Step& step, const Cohort& cohort,
              const scheduler::Placement& placement) {
  return cohort.Waits() &&
         std::ranges::all_of(placement.parts, [&](const scheduler::Part& part) {
           return step.state.nodes.at(part.node).session.has_value();
         });
}

/// All of its parts, or none.
void Start(Step& step, const scheduler::Placement& placement) {
  Cohort& cohort = *step.state.FindCohort(placement.cohort);
  if (!MayStart(step, cohort, placement)) return;
  storage::AttemptRecord attempt = AttemptOf(step, cohort, placement);
  const AttemptKey key = attempt.key;
  step.Do(storage::StartAttempt{std::move(attempt)});
  cohort.retry_at.reset();
  cohort.cancelled_on.clear();
  cohort.deferral.clear();
  if (cohort.record.waits_after) {
    storage::CohortRecord standing = cohort.record;
    standing.waits_after.reset();
    step.Do(storage::SetStanding{std::move(standing)});
  }
  StartOrder order = OrderFor(step, key);
  order.world_size = std::ssize(cohort.live->record.ranks);
  for (LivePart& part : cohort.live->parts) {
    part.renewed = step.now.steady;
    part.is_heard = true;
    NoteStart(step, part.node, key);
    Node& node = step.state.nodes.at(part.node);
    node.held[key] = part.devices;
    order.first_rank = part.first_rank;
    order.ranks = part.ranks;
    order.devices = part.devices;
    step.Tell(*node.session, order);
  }
  const auto is_queued = [](TrialState state) {
    return state == TrialState::kQueued;
  };
  for (const storage::TrialRecord& trial : TrialsWhere(cohort, is_queued)) {
    step.Move(trial, TrialState::kLeased, "");
  }
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
    for (const scheduler::Part& part : placement.parts) {
      const Node& node = step.state.nodes.at(part.node);
      begins_canary = begins_canary || node.record.quarantined;
    }
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
