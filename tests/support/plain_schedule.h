// The rule of who starts where, written plainly: one cohort after the other
// asks for its devices. What the scheduler, which looks at lines of them, must
// agree with.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "coordinator/scheduler/fitting.h"
#include "coordinator/scheduler/schedule.h"
#include "coordinator/scheduler/why_deferred.h"

namespace leadline::scheduler::plain {

struct CohortRequest {
  CohortId id;
  int64_t priority = 0;
  int64_t ranks = 1;
  int64_t threads = 1;
  int64_t more_memory_than = 0;
  std::vector<std::string> avoid{};
  std::vector<std::string> never{};

  scheduler::Demand Demand() const {
    return {ranks, threads, more_memory_than, avoid, never};
  }
};

struct Snapshot {
  std::vector<NodeView> nodes;
  std::vector<CohortRequest> queue;
  std::vector<SweepLimit> limits;
};

struct Deferral {
  CohortId cohort;
  std::string reason;
  bool infeasible = false;
  bool operator==(const Deferral&) const = default;
};

/// One entry for every cohort in the queue.
struct Plan {
  std::vector<Placement> placements;
  std::vector<Deferral> deferrals;
  bool operator==(const Plan&) const = default;
};

inline void SortQueue(std::vector<CohortRequest>& queue) {
  std::sort(queue.begin(), queue.end(),
            [](const CohortRequest& a, const CohortRequest& b) {
              return std::tuple(-a.priority, a.id) <
                     std::tuple(-b.priority, b.id);
            });
}

/// Asks for each cohort in turn; what is left is told what is free at the end.
inline Plan OneByOne(Snapshot snapshot) {
  Plan plan;
  std::map<SweepId, SweepLimit> limits;
  for (const SweepLimit& limit : snapshot.limits) {
    limits.emplace(limit.sweep, limit);
  }
  std::ranges::sort(snapshot.nodes, {}, &NodeView::name);
  SortQueue(snapshot.queue);
  const auto totals = [&](const CohortRequest& request) {
    return TotalsOf(snapshot.nodes, request.ranks > 1);
  };
  const auto is_limited = [&](const CohortRequest& request) {
    const auto limit = limits.find(request.id.cell.sweep);
    return limit != limits.end() && limit->second.left <= 0;
  };
  std::vector<CohortRequest> left;
  for (const CohortRequest& request : snapshot.queue) {
    const auto need = NeedOf(snapshot.nodes, totals(request), request.Demand());
    std::vector<Part> parts;
    if (need && !is_limited(request)) {
      parts = TakeDevices(snapshot.nodes, *need, request.Demand());
    }
    if (parts.empty()) {
      left.push_back(request);
      continue;
    }
    const auto limit = limits.find(request.id.cell.sweep);
    if (limit != limits.end()) --limit->second.left;
    plan.placements.push_back({request.id, std::move(parts)});
  }
  for (const CohortRequest& request : left) {
    const auto need = NeedOf(snapshot.nodes, totals(request), request.Demand());
    if (need && is_limited(request)) {
      plan.deferrals.push_back(
          {request.id, WaitsForLimit(limits.at(request.id.cell.sweep)), false});
      continue;
    }
    WhyDeferred why =
        Explain(snapshot.nodes, totals(request), need, request.Demand());
    plan.deferrals.push_back(
        {request.id, std::move(why.reason), why.infeasible});
  }
  return plan;
}

/// The same queue in lines, as the scheduler takes it.
class Lines {
 public:
  explicit Lines(const std::vector<CohortRequest>& queue) {
    for (const CohortRequest& request : queue) {
      lines_[{request.id.cell.sweep, request.priority, request.Demand()}]
          .insert(request.id);
    }
  }

  std::vector<Line> List() const {
    std::vector<Line> list;
    for (const auto& [key, cohorts] : lines_) {
      const auto& [sweep, priority, demand] = key;
      list.push_back({sweep, priority, &demand, &cohorts});
    }
    return list;
  }

 private:
  std::map<std::tuple<SweepId, int64_t, scheduler::Demand>, std::set<CohortId>>
      lines_;
};

/// What the scheduler makes of it, told for each cohort.
inline Plan InLines(const Snapshot& snapshot) {
  const Lines lines(snapshot.queue);
  const std::vector<Line> list = lines.List();
  const scheduler::Plan served =
      scheduler::Schedule({snapshot.nodes, list, snapshot.limits});
  Plan plan{served.placements, {}};
  std::map<CohortId, Deferral> deferred;
  for (const scheduler::Deferral& one : served.deferrals) {
    const std::set<CohortId>& cohorts = *list.at(one.line).cohorts;
    for (auto at = cohorts.find(one.first); at != cohorts.end(); ++at) {
      deferred[*at] = {*at, one.reason, one.infeasible};
    }
  }
  std::vector<CohortRequest> queue = snapshot.queue;
  SortQueue(queue);
  for (const CohortRequest& request : queue) {
    const auto found = deferred.find(request.id);
    if (found != deferred.end()) plan.deferrals.push_back(found->second);
  }
  return plan;
}

}  // namespace leadline::scheduler::plain
