#include "coordinator/scheduler/schedule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "coordinator/scheduler/fitting.h"
#include "coordinator/scheduler/why_deferred.h"

namespace leadline::scheduler {
namespace {

/// What all who ask for the same get to hear in one round.
struct Shape {
  std::optional<Need> need;
  /// What is free only becomes less: who asks for the same later is not served
  /// either.
  bool is_refused = false;
  std::optional<WhyDeferred> why;
};

struct ByDemand {
  bool operator()(const Demand* a, const Demand* b) const { return *a < *b; }
};

/// A line and the first of it that has not been served.
struct Head {
  size_t line = 0;
  Shape* shape = nullptr;
  std::set<CohortId>::const_iterator next;
};

/// Serves one snapshot; edits its own copy of it.
class Round {
 public:
  explicit Round(Snapshot snapshot) : snapshot_(std::move(snapshot)) {
    std::sort(
        snapshot_.nodes.begin(), snapshot_.nodes.end(),
        [](const NodeView& a, const NodeView& b) { return a.name < b.name; });
    for (const SweepLimit& limit : snapshot_.limits) {
      limits_.emplace(limit.sweep, limit);
    }
    solo_ = TotalsOf(snapshot_.nodes, false);
    gangs_ = TotalsOf(snapshot_.nodes, true);
  }

  Plan Serve() {
    HeadList heads = Heads();
    for (auto first = heads.begin(); first != heads.end();) {
      const SweepId sweep = LineOf(*first).sweep;
      const auto last = std::find_if(first, heads.end(), [&](const Head& head) {
        return LineOf(head).sweep != sweep;
      });
      ServeSweep(sweep, first, last);
      first = last;
    }
    // What could not start is told what is free now, not what was then.
    std::ranges::stable_sort(
        heads, [&](const Head& a, const Head& b) { return Rank(a) < Rank(b); });
    for (const Head& head : heads) Defer(head);
    return std::move(plan_);
  }

 private:
  using HeadList = std::vector<Head>;

  const Line& LineOf(const Head& head) const {
    return snapshot_.lines[head.line];
  }
  /// Those of which all have been served come last.
  std::tuple<int64_t, SweepId, bool, CohortId> Rank(const Head& head) const {
    const Line& line = LineOf(head);
    const bool is_served = head.next == line.cohorts->end();
    return {-line.priority, line.sweep, is_served,
            is_served ? CohortId{} : *head.next};
  }

  HeadList Heads() {
    HeadList heads;
    for (size_t i = 0; i < snapshot_.lines.size(); ++i) {
      const Line& line = snapshot_.lines[i];
      heads.push_back({i, &ShapeOf(*line.demand), line.cohorts->begin()});
    }
    std::ranges::stable_sort(
        heads, [&](const Head& a, const Head& b) { return Rank(a) < Rank(b); });
    return heads;
  }

  Shape& ShapeOf(const Demand& demand) {
    ++plan_.looked_at;
    const auto [at, is_new] = shapes_.try_emplace(&demand);
    if (is_new && !snapshot_.nodes.empty()) {
      at->second.need = NeedOf(snapshot_.nodes, TotalsFor(demand), demand);
    }
    if (!at->second.need) at->second.is_refused = true;
    return at->second;
  }

  const Totals& TotalsFor(const Demand& demand) const {
    return demand.ranks > 1 ? gangs_ : solo_;
  }

  SweepLimit* ReachedLimit(SweepId sweep) {
    const auto limit = limits_.find(sweep);
    return limit != limits_.end() && limit->second.left <= 0 ? &limit->second
                                                             : nullptr;
  }

  /// Its lines are merged in the order of their cohorts; one whose first cannot
  /// start lets the others pass.
  void ServeSweep(SweepId sweep, HeadList::iterator first,
                  HeadList::iterator last) {
    std::map<CohortId, Head*> next;
    for (auto head = first; head != last; ++head) {
      if (!head->shape->is_refused) next.emplace(*head->next, &*head);
    }
    while (!next.empty() && !ReachedLimit(sweep)) {
      Head& head = *next.begin()->second;
      next.erase(next.begin());
      if (!Start(head)) continue;
      if (++head.next != LineOf(head).cohorts->end()) {
        next.emplace(*head.next, &head);
      }
    }
  }

  bool Start(Head& head) {
    Shape& shape = *head.shape;
    if (shape.is_refused) return false;
    ++plan_.looked_at;
    const Line& line = LineOf(head);
    std::vector<Part> parts =
        TakeDevices(snapshot_.nodes, *shape.need, *line.demand);
    shape.is_refused = parts.empty();
    if (shape.is_refused) return false;
    const auto limit = limits_.find(line.sweep);
    if (limit != limits_.end()) --limit->second.left;
    plan_.placements.push_back({*head.next, std::move(parts)});
    return true;
  }

  void Defer(const Head& head) {
    const Line& line = LineOf(head);
    if (head.next == line.cohorts->end()) return;
    Shape& shape = *head.shape;
    const SweepLimit* limit = ReachedLimit(line.sweep);
    if (limit && shape.need) {
      plan_.deferrals.push_back(
          {head.line, *head.next, WaitsForLimit(*limit), false});
      return;
    }
    if (!shape.why) {
      shape.why = Explain(snapshot_.nodes, TotalsFor(*line.demand), shape.need,
                          *line.demand);
    }
    plan_.deferrals.push_back(
        {head.line, *head.next, shape.why->reason, shape.why->infeasible});
  }

  Snapshot snapshot_;
  std::map<SweepId, SweepLimit> limits_;
  std::map<const Demand*, Shape, ByDemand> shapes_;
  Totals solo_;
  Totals gangs_;
  Plan plan_;
};

}  // namespace

std::vector<std::string> WhoCouldHold(const std::vector<NodeView>& nodes,
                                      const Demand& demand) {
  std::vector<std::string> names;
  const std::optional<Need> need =
      NeedOf(nodes, TotalsOf(nodes, demand.ranks > 1), demand);
  if (!need) return names;
  for (const NodeView& node : nodes) {
    if (need->spread ? CouldShare(nodes, node, *need, demand)
                     : CouldHold(node, *need, demand)) {
      names.push_back(node.name);
    }
  }
  return names;
}

Plan Schedule(Snapshot snapshot) { return Round(std::move(snapshot)).Serve(); }

}  // namespace leadline::scheduler
