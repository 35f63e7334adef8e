#include "coordinator/scheduler/schedule.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <tuple>
#include <utility>

#include "coordinator/scheduler/fitting.h"

namespace leadline::scheduler {
namespace {

std::string Counted(int64_t count, bool accelerator) {
  const std::string what = accelerator ? "device" : "CPU slot";
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string Nodes(int64_t count) {
  return std::to_string(count) + (count == 1 ? " node" : " nodes");
}

std::string Counted(const Need& need) {
  std::string text = Counted(need.Devices(), need.accelerator);
  if (need.ranks > 1 && need.each > 1) {
    text += " (" + std::to_string(need.each) + " a rank)";
  }
  return text;
}

/// Serves one snapshot; edits its own copy of it.
class Round {
 public:
  explicit Round(Snapshot snapshot) : snapshot_(std::move(snapshot)) {
    std::sort(
        snapshot_.nodes.begin(), snapshot_.nodes.end(),
        [](const NodeView& a, const NodeView& b) { return a.name < b.name; });
    std::sort(snapshot_.queue.begin(), snapshot_.queue.end(),
              [](const CohortRequest& a, const CohortRequest& b) {
                return std::tuple(-a.priority, a.id) <
                       std::tuple(-b.priority, b.id);
              });
    for (const SweepLimit& limit : snapshot_.limits) {
      limits_.emplace(limit.sweep, limit);
    }
    solo_ = TotalsOf(snapshot_.nodes, false);
    gangs_ = TotalsOf(snapshot_.nodes, true);
  }

  Plan Serve() {
    for (const CohortRequest& request : snapshot_.queue) Serve(request);
    return std::move(plan_);
  }

 private:
  const Totals& TotalsFor(const CohortRequest& request) const {
    return request.ranks > 1 ? gangs_ : solo_;
  }

  void Serve(const CohortRequest& request) {
    if (snapshot_.nodes.empty()) {
      return Defer(request, "no agent is connected", true);
    }
    const std::optional<Need> need =
        NeedOf(snapshot_.nodes, TotalsFor(request), request);
    if (!need) return Defer(request, TooLarge(request), true);
    const auto limit = limits_.find(request.id.cell.sweep);
    if (limit != limits_.end() && limit->second.left <= 0) {
      return Defer(request,
                   "limits.parallel of the sweep is " +
                       std::to_string(limit->second.parallel),
                   false);
    }
    std::vector<Part> parts = TakeDevices(snapshot_.nodes, *need, request);
    if (parts.empty()) return DeferFor(request, *need);
    if (limit != limits_.end()) --limit->second.left;
    plan_.placements.push_back({request.id, std::move(parts)});
  }

  bool WouldDo(const NodeView& node, const Need& need,
               const CohortRequest& request) const {
    return need.spread ? CouldShare(snapshot_.nodes, node, need, request)
                       : CouldHold(node, need, request);
  }

  /// Everything that could hold it is taken or closed, or nothing could.
  void DeferFor(const CohortRequest& request, const Need& need) {
    std::string closed;
    int64_t could = 0;
    int64_t not_closed = 0;
    for (const NodeView& node : snapshot_.nodes) {
      if (!WouldDo(node, need, request)) continue;
      ++could;
      not_closed += node.closed.empty() ? 1 : 0;
      if (closed.empty()) closed = node.closed;
    }
    if (could == 0) return Defer(request, NoneWouldDo(request, need), true);
    if (not_closed == 0) {
      if (could > 1) {
        closed += "; so are " + std::to_string(could - 1) + " other nodes";
      }
      return Defer(request, std::move(closed), false);
    }
    std::string reason = need.spread ? WaitsForShares(request, need)
                                     : WaitsForNode(request, need);
    if (!closed.empty()) reason += "; " + closed;
    Defer(request, std::move(reason), false);
  }

  static std::string MemoryWanted(const CohortRequest& request) {
    if (request.more_memory_than == 0) return "";
    return " with more memory than the " +
           MemoryText(request.more_memory_than) + " it ran out of";
  }

  static std::string WaitsForShares(const CohortRequest& request,
                                    const Need& need, const FreeShare& free) {
    return "needs " + Counted(need) + " at once" + MemoryWanted(request) +
           "; " + std::to_string(free.devices) +
           (free.devices == 1 ? " is" : " are") + " free" +
           (free.nodes > 0 ? " on " + Nodes(free.nodes) : "");
  }
  std::string WaitsForShares(const CohortRequest& request,
                             const Need& need) const {
    return WaitsForShares(request, need,
                          FreeFor(snapshot_.nodes, need, request));
  }

  std::string WaitsForNode(const CohortRequest& request,
                           const Need& need) const {
    std::string reason =
        "waits for " + Counted(need) + " on one node" + MemoryWanted(request);
    if (need.Devices() == 1) return reason;
    std::pair<int64_t, std::string> most{-1, ""};
    for (const NodeView& node : snapshot_.nodes) {
      if (!node.closed.empty() || !WouldDo(node, need, request)) continue;
      const int64_t free = FreeFor({node}, need, request).devices;
      if (free > most.first) most = {free, node.name};
    }
    return reason + "; " + std::to_string(most.first) +
           (most.first == 1 ? " is" : " are") + " free on node " + most.second;
  }

  static std::string NoneWouldDo(const CohortRequest& request,
                                 const Need& need) {
    if (request.more_memory_than > 0) {
      return "ran out of " + MemoryText(request.more_memory_than) +
             " of memory, and no node with " + Counted(need) + " has more";
    }
    std::string nodes;
    for (const std::string& node : request.never) {
      nodes += (nodes.empty() ? "" : ", ") + node;
    }
    return "failed on node " + nodes + " and waits for another";
  }

  std::string TooLarge(const CohortRequest& request) const {
    const Totals& totals = TotalsFor(request);
    const std::string needs = "needs " + Counted(request.ranks, true) + " or " +
                              Counted(request.ranks * request.threads, false);
    if (request.ranks == 1) {
      return needs + " on one node; the largest has " +
             Counted(totals.most_accelerators, true) + " and " +
             Counted(totals.most_cpu_slots, false);
    }
    std::string reason = needs + " at once; all nodes together have " +
                         Counted(totals.all_accelerators, true) +
                         " of one type and " +
                         Counted(totals.all_cpu_slots, false);
    if (totals.without_gangs > 0) {
      reason += ", " + Nodes(totals.without_gangs) +
                " left out whose agents are too old for several ranks";
    }
    return reason;
  }

  void Defer(const CohortRequest& request, std::string reason,
             bool infeasible) {
    plan_.deferrals.push_back({request.id, std::move(reason), infeasible});
  }

  Snapshot snapshot_;
  std::map<SweepId, SweepLimit> limits_;
  Totals solo_;
  Totals gangs_;
  Plan plan_;
};

}  // namespace

std::string MemoryText(int64_t bytes) {
  constexpr double kMebi = 1024.0 * 1024.0;
  const bool is_large = static_cast<double>(bytes) >= 1024 * kMebi;
  const double value =
      static_cast<double>(bytes) / (is_large ? 1024 * kMebi : kMebi);
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), "%.1f %s", value,
                is_large ? "GiB" : "MiB");
  return text.data();
}

std::vector<std::string> WhoCouldHold(const std::vector<NodeView>& nodes,
                                      const CohortRequest& request) {
  std::vector<std::string> names;
  const std::optional<Need> need =
      NeedOf(nodes, TotalsOf(nodes, request.ranks > 1), request);
  if (!need) return names;
  for (const NodeView& node : nodes) {
    if (need->spread ? CouldShare(nodes, node, *need, request)
                     : CouldHold(node, *need, request)) {
      names.push_back(node.name);
    }
  }
  return names;
}

Plan Schedule(Snapshot snapshot) { return Round(std::move(snapshot)).Serve(); }

}  // namespace leadline::scheduler
