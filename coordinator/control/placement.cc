#include "coordinator/control/placement.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "coordinator/control/candidates.h"
#include "coordinator/control/errands.h"
#include "coordinator/control/failure_limits.h"
#include "coordinator/control/quarantine.h"
#include "coordinator/control/waiting.h"
#include "coordinator/scheduler/schedule.h"
#include "model/spec/identity.h"

namespace leadline::control {
namespace {

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

/// What was placed and said before counts no more.
void ForgetReasons(State& state) {
  for (auto& [id, sweep] : state.sweeps) {
    sweep.waiting_for.clear();
    sweep.can_run = HasReachable(state, id);
  }
}

/// The first of a sweep's waiting cohorts speaks for it; those that must wait
/// whatever is free come before the others.
void GiveReasonsOfKeptBack(State& state) {
  auto at = state.lines.kept_back.begin();
  while (at != state.lines.kept_back.end()) {
    ++state.looked_at;
    Sweep& sweep = *state.FindSweep(at->cell.sweep);
    if (sweep.record.state == SweepState::kActive) {
      sweep.waiting_for = DeferralOf(state, *state.FindCohort(*at)).reason;
      sweep.can_run = true;
    }
    at =
        state.lines.kept_back.lower_bound({{{at->cell.sweep.value + 1}, 0}, 0});
  }
}

void GiveReasonsOfBusy(State& state) {
  for (auto& [id, sweep] : state.sweeps) {
    if (sweep.errands.empty()) continue;
    sweep.waiting_for = ErrandText(sweep);
    sweep.can_run = true;
  }
}

void GiveReasonToAll(State& state) {
  for (auto& [id, sweep] : state.sweeps) {
    if (state.IsWaiting(id)) sweep.waiting_for = kNobodyWantsWork;
  }
}

scheduler::Snapshot TakeSnapshot(const Step& step,
                                 const std::vector<LineMap::iterator>& lines) {
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
  for (const LineMap::iterator& line : lines) {
    const SweepId sweep = line->first.sweep;
    snapshot.lines.push_back({sweep,
                              step.state.FindSweep(sweep)->record.priority,
                              &line->first.demand, &line->second.cohorts});
  }
  return snapshot;
}

std::vector<LineMap::iterator> ActiveLines(State& state) {
  std::vector<LineMap::iterator> active;
  for (auto at = state.lines.lines.begin(); at != state.lines.lines.end();
       ++at) {
    const Sweep& sweep = *state.FindSweep(at->first.sweep);
    if (sweep.record.state == SweepState::kActive && sweep.errands.empty()) {
      active.push_back(at);
    }
  }
  return active;
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

/// True if some node of the placement is on trial with it.
bool IsCanary(const State& state, const scheduler::Placement& placement) {
  return std::ranges::any_of(placement.parts, [&](const scheduler::Part& part) {
    return state.nodes.at(part.node).record.quarantined;
  });
}

/// True if a canary has begun.
bool StartAll(Step& step, const scheduler::Plan& plan) {
  bool begins_canary = false;
  for (const scheduler::Placement& placement : plan.placements) {
    begins_canary = begins_canary || IsCanary(step.state, placement);
    Start(step, placement);
    step.state.FindSweep(placement.cohort.cell.sweep)->can_run = true;
  }
  return begins_canary;
}

void GiveReasons(State& state, const scheduler::Plan& plan,
                 const std::vector<LineMap::iterator>& lines) {
  for (const scheduler::Deferral& deferral : plan.deferrals) {
    WaitingLine& line = lines[deferral.line]->second;
    line.deferral = deferral.reason;
    line.infeasible = deferral.infeasible;
    Sweep& sweep = *state.FindSweep(deferral.first.cell.sweep);
    if (sweep.waiting_for.empty()) sweep.waiting_for = deferral.reason;
    if (!deferral.infeasible) sweep.can_run = true;
  }
}

}  // namespace

void Place(Step& step) {
  State& state = step.state;
  if (!state.must_place) return;
  CancelWhatWaits(step);
  state.must_place = false;
  state.planned_at = step.now.steady;
  SortIn(step);
  ForgetReasons(state);
  if (!state.work_wanted) return GiveReasonToAll(state);
  GiveReasonsOfKeptBack(state);
  GiveReasonsOfBusy(state);
  const auto lines = ActiveLines(state);
  const scheduler::Plan plan = scheduler::Schedule(TakeSnapshot(step, lines));
  state.looked_at += plan.looked_at;
  GiveReasons(state, plan, lines);
  const bool begins_canary = StartAll(step, plan);
  SortIn(step);
  for (const auto& [id, sweep] : state.sweeps) step.Touch(id);
  // The moves above are this round's own; but what others wait for is another
  // thing once a canary has begun.
  state.must_place = begins_canary;
}

}  // namespace leadline::control
