#include "coordinator/scheduler/schedule.h"

#include <algorithm>
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

/// Null if no group has that many free.
std::pair<const NodeView*, DeviceGroup*> TightestFit(
    std::vector<NodeView>& nodes, const Need& need) {
  std::pair<const NodeView*, DeviceGroup*> best{nullptr, nullptr};
  for (NodeView& node : nodes) {
    for (DeviceGroup& group : node.groups) {
      if (!IsRightKind(group, need) || std::ssize(group.free) < need.devices) {
        continue;
      }
      if (!best.second || group.free.size() < best.second->free.size()) {
        best = {&node, &group};
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
    largest_accelerators_ = LargestGroup(snapshot_.nodes, true);
    largest_cpu_slots_ = LargestGroup(snapshot_.nodes, false);
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
    const bool on_accelerators = largest_accelerators_ >= request.accelerators;
    if (!on_accelerators && largest_cpu_slots_ < request.cpu_slots) {
      return Defer(request, TooLarge(request), true);
    }
    const auto limit = limits_.find(request.id.cell.sweep);
    if (limit != limits_.end() && limit->second.left <= 0) {
      return Defer(request,
                   "limits.parallel of the sweep is " +
                       std::to_string(limit->second.parallel),
                   false);
    }
    const Need need{on_accelerators,
                    on_accelerators ? request.accelerators : request.cpu_slots};
    const auto [node, group] = TightestFit(snapshot_.nodes, need);
    if (!node) {
      return Defer(request,
                   "waits for " + Counted(need.devices, need.accelerator) +
                       " on one node",
                   false);
    }
    if (limit != limits_.end()) --limit->second.left;
    plan_.placements.push_back(
        {request.id, node->name, Take(*group, need.devices)});
  }

  std::string TooLarge(const CohortRequest& request) const {
    return "needs " + Counted(request.accelerators, true) + " or " +
           Counted(request.cpu_slots, false) +
           " on one node; the largest has " +
           Counted(largest_accelerators_, true) + " and " +
           Counted(largest_cpu_slots_, false);
  }

  void Defer(const CohortRequest& request, std::string reason,
             bool infeasible) {
    plan_.deferrals.push_back({request.id, std::move(reason), infeasible});
  }

  Snapshot snapshot_;
  std::map<SweepId, SweepLimit> limits_;
  int64_t largest_accelerators_ = 0;
  int64_t largest_cpu_slots_ = 0;
  Plan plan_;
};

}  // namespace

Plan Schedule(Snapshot snapshot) { return Round(std::move(snapshot)).Serve(); }

}  // namespace leadline::scheduler
