#include "coordinator/control/waiting.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "coordinator/control/candidates.h"
#include "coordinator/control/errands.h"

namespace leadline::control {
namespace {

/// Nodes with processes of an attempt that counts no more: until they are gone
/// the next one of the cohort waits.
using Holders = std::multimap<CohortId, const Node*>;

Holders WhereOldOnesEnd(const State& state) {
  Holders where;
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
                           const Holders& where) {
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

void LeaveLine(WaitingLines& waiting, Cohort& cohort) {
  WaitingPlace& place = cohort.place;
  const CohortId& id = cohort.record.id;
  if (place.line) {
    std::set<CohortId>& cohorts = (*place.line)->second.cohorts;
    cohorts.erase(id);
    if (cohorts.empty()) waiting.lines.erase(*place.line);
    place.line.reset();
  }
  if (place.until) waiting.by_time.erase({*place.until, id});
  place.until.reset();
  if (!place.is_kept_back) return;
  waiting.kept_back.erase(id);
  waiting.for_an_end.erase(id);
  place.is_kept_back = false;
}

void NoteAge(WaitingLines& waiting, Cohort& cohort, SteadyTime now) {
  std::optional<SteadyTime>& since = cohort.place.since;
  if (cohort.Waits() == since.has_value()) return;
  auto& ages = waiting.by_age[cohort.record.id.cell.sweep];
  if (!since) {
    since = now;
    ++ages[now];
    return;
  }
  const auto age = ages.find(*since);
  if (--age->second == 0) ages.erase(age);
  since.reset();
  if (ages.empty()) waiting.by_age.erase(cohort.record.id.cell.sweep);
}

void JoinLine(WaitingLines& waiting, Cohort& cohort, scheduler::Demand demand) {
  WaitingPlace& place = cohort.place;
  // A line that is left by its only one forgets what was said of it.
  if (place.line && (*place.line)->first.demand == demand) return;
  LeaveLine(waiting, cohort);
  const CohortId& id = cohort.record.id;
  place.line =
      waiting.lines.try_emplace({id.cell.sweep, std::move(demand)}).first;
  auto& cohorts = (*place.line)->second.cohorts;
  cohorts.emplace_hint(cohorts.end(), id);
}

void KeepBack(WaitingLines& waiting, Cohort& cohort) {
  LeaveLine(waiting, cohort);
  const CohortId& id = cohort.record.id;
  waiting.kept_back.insert(id);
  if (!cohort.old_ends.empty()) waiting.for_an_end.insert(id);
  if (cohort.retry_at) waiting.by_time.emplace(*cohort.retry_at, id);
  cohort.place.until = cohort.retry_at;
  cohort.place.is_kept_back = true;
}

void SortIn(Step& step, Cohort& cohort, const Holders& where) {
  WaitingLines& waiting = step.state.lines;
  NoteAge(waiting, cohort, step.now.steady);
  if (!cohort.Waits()) return LeaveLine(waiting, cohort);
  cohort.old_ends = MustWaitForEnd(step, cohort, where);
  if (cohort.retry_at && *cohort.retry_at <= step.now.steady) {
    cohort.retry_at.reset();
  }
  if (cohort.retry_at || !cohort.old_ends.empty()) {
    return KeepBack(waiting, cohort);
  }
  JoinLine(waiting, cohort, DemandOf(step, cohort));
}

/// Those that may belong elsewhere than where they are.
std::vector<CohortId> ToSort(Step& step, const Holders& where) {
  WaitingLines& waiting = step.state.lines;
  std::vector<CohortId> ids = std::exchange(waiting.moved, {});
  ids.insert(ids.end(), waiting.for_an_end.begin(), waiting.for_an_end.end());
  for (const auto& [until, id] : waiting.by_time) {
    if (until > step.now.steady) break;
    ids.push_back(id);
  }
  for (const auto& [id, node] : where) {
    if (step.state.waiting.contains(id)) ids.push_back(id);
  }
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

/// "attempt 1 failed (...); tries again in 3 s"
std::string RetryText(const Cohort& cohort, SteadyTime now) {
  const Seconds left = *cohort.retry_at - now;
  return cohort.retry_reason + "; tries again in " +
         std::to_string(static_cast<int64_t>(std::ceil(left.count()))) + " s";
}

}  // namespace

void SortIn(Step& step) {
  const Holders where = WhereOldOnesEnd(step.state);
  for (const CohortId& id : ToSort(step, where)) {
    ++step.state.looked_at;
    Cohort* cohort = step.state.FindCohort(id);
    if (cohort) SortIn(step, *cohort, where);
  }
}

Deferred DeferralOf(const State& state, const Cohort& cohort) {
  if (!cohort.Waits()) return {};
  if (!state.work_wanted) return {kNobodyWantsWork, true};
  const Sweep& sweep = state.sweeps.at(cohort.record.id.cell.sweep);
  if (!sweep.errands.empty()) return {ErrandText(sweep), false};
  const WaitingPlace& place = cohort.place;
  if (place.line) {
    const WaitingLine& line = (*place.line)->second;
    return {line.deferral, line.infeasible};
  }
  if (cohort.retry_at) return {RetryText(cohort, state.planned_at), false};
  return {cohort.old_ends, false};
}

}  // namespace leadline::control
