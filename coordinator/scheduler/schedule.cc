#include "coordinator/scheduler/schedule.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <tuple>
#include <utility>

namespace leadline::scheduler {
namespace {

/// What a cohort asks of one group of devices.
struct Need {
  bool accelerator = false;
  int64_t devices = 0;
};

bool IsAccelerator(const DeviceGroup& group) { return group.type != kCpuType; }

bool IsRightKind(const DeviceGroup& group, const Need& need) {
  return IsAccelerator(group) == need.accelerator;
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// True if the group is of the kind, has so many devices, free or taken, and
/// memory enough.
bool CouldHold(const NodeView& node, const DeviceGroup& group, const Need& need,
               const CohortRequest& request) {
  return IsRightKind(group, need) && group.total >= need.devices &&
         !Contains(request.never, node.name) &&
         (request.more_memory_than == 0 ||
          group.memory_bytes * need.devices > request.more_memory_than);
}

/// The largest group of the kind, free or taken.
int64_t LargestGroup(const std::vector<NodeView>& nodes, bool accelerator) {
  int64_t largest = 0;
  for (const NodeView& node : nodes) {
    for (const DeviceGroup& group : node.groups) {
      if (IsAccelerator(group) == accelerator) {
        largest = std::max(largest, group.total);
      }
    }
  }
  return largest;
}

bool CouldHold(const NodeView& node, const Need& need,
               const CohortRequest& request) {
  return std::ranges::any_of(node.groups, [&](const DeviceGroup& group) {
    return CouldHold(node, group, need, request);
  });
}

/// What the largest groups of both kinds have.
struct Largest {
  int64_t accelerators = 0;
  int64_t cpu_slots = 0;
};

Largest LargestOf(const std::vector<NodeView>& nodes) {
  return {LargestGroup(nodes, true), LargestGroup(nodes, false)};
}

/// Null if no node is large enough.
std::optional<Need> NeedOf(const CohortRequest& request,
                           const Largest& largest) {
  if (largest.accelerators >= request.accelerators) {
    return Need{true, request.accelerators};
  }
  if (largest.cpu_slots < request.cpu_slots) return std::nullopt;
  return Need{false, request.cpu_slots};
}

/// Null if no group has that many free.
std::pair<NodeView*, DeviceGroup*> BestFit(std::vector<NodeView>& nodes,
                                           const Need& need,
                                           const CohortRequest& request) {
  std::pair<NodeView*, DeviceGroup*> best{nullptr, nullptr};
  std::tuple<bool, bool, size_t> best_rank;
  for (NodeView& node : nodes) {
    if (!node.closed.empty() && !node.takes_canary) continue;
    for (DeviceGroup& group : node.groups) {
      if (std::ssize(group.free) < need.devices ||
          !CouldHold(node, group, need, request)) {
        continue;
      }
      const std::tuple rank(!node.closed.empty(),
                            Contains(request.avoid, node.name),
                            group.free.size());
      if (!best.second || rank < best_rank) {
        best = {&node, &group};
        best_rank = rank;
      }
    }
  }
  return best;
}

std::vector<std::string> Take(DeviceGroup& group, int64_t count) {
  std::vector<std::string> taken(group.free.begin(),
                                 group.free.begin() + count);
  group.free.erase(group.free.begin(), group.free.begin() + count);
  return taken;
}

std::string Counted(int64_t count, bool accelerator) {
  const std::string what = accelerator ? "device" : "CPU slot";
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
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
    largest_ = LargestOf(snapshot_.nodes);
  }

  Plan Serve() {
    for (const CohortRequest& request : snapshot_.queue) Serve(request);
    return std::move(plan_);
  }

 private:
  void Serve(const CohortRequest& request) {
    if (snapshot_.nodes.empty()) {
      return Defer(request, "no agent is connected", true);
    }
    const std::optional<Need> need = NeedOf(request, largest_);
    if (!need) return Defer(request, TooLarge(request), true);
    const auto limit = limits_.find(request.id.cell.sweep);
    if (limit != limits_.end() && limit->second.left <= 0) {
      return Defer(request,
                   "limits.parallel of the sweep is " +
                       std::to_string(limit->second.parallel),
                   false);
    }
    const auto [node, group] = BestFit(snapshot_.nodes, *need, request);
    if (!node) return DeferFor(request, *need);
    if (limit != limits_.end()) --limit->second.left;
    node->takes_canary = false;
    plan_.placements.push_back(
        {request.id, node->name, Take(*group, need->devices)});
  }

  /// Everything that could hold it is taken or closed, or nothing could.
  void DeferFor(const CohortRequest& request, const Need& need) {
    std::string closed;
    int64_t could = 0;
    int64_t not_closed = 0;
    for (const NodeView& node : snapshot_.nodes) {
      if (!CouldHold(node, need, request)) continue;
      ++could;
      not_closed += node.closed.empty() ? 1 : 0;
      if (closed.empty()) closed = node.closed;
    }
    if (could == 0) return Defer(request, NoneWouldDo(request, need), true);
    std::string reason =
        "waits for " + Counted(need.devices, need.accelerator) + " on one node";
    if (request.more_memory_than > 0) {
      reason += " with more memory than the " +
                MemoryText(request.more_memory_than) + " it ran out of";
    }
    if (not_closed == 0) {
      reason = closed;
      if (could > 1) {
        reason += "; so are " + std::to_string(could - 1) + " other nodes";
      }
    } else if (!closed.empty()) {
      reason += "; " + closed;
    }
    Defer(request, std::move(reason), false);
  }

  static std::string NoneWouldDo(const CohortRequest& request,
                                 const Need& need) {
    if (request.more_memory_than > 0) {
      return "ran out of " + MemoryText(request.more_memory_than) +
             " of memory, and no node with " +
             Counted(need.devices, need.accelerator) + " has more";
    }
    std::string nodes;
    for (const std::string& node : request.never) {
      nodes += (nodes.empty() ? "" : ", ") + node;
    }
    return "failed on node " + nodes + " and waits for another";
  }

  std::string TooLarge(const CohortRequest& request) const {
    return "needs " + Counted(request.accelerators, true) + " or " +
           Counted(request.cpu_slots, false) +
           " on one node; the largest has " +
           Counted(largest_.accelerators, true) + " and " +
           Counted(largest_.cpu_slots, false);
  }

  void Defer(const CohortRequest& request, std::string reason,
             bool infeasible) {
    plan_.deferrals.push_back({request.id, std::move(reason), infeasible});
  }

  Snapshot snapshot_;
  std::map<SweepId, SweepLimit> limits_;
  Largest largest_;
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
  const std::optional<Need> need = NeedOf(request, LargestOf(nodes));
  if (!need) return names;
  for (const NodeView& node : nodes) {
    if (CouldHold(node, *need, request)) names.push_back(node.name);
  }
  return names;
}

Plan Schedule(Snapshot snapshot) { return Round(std::move(snapshot)).Serve(); }

}  // namespace leadline::scheduler
