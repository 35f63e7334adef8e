#include "coordinator/scheduler/fitting.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace leadline::scheduler {
namespace {

bool IsAccelerator(const DeviceGroup& group) { return group.type != kCpuType; }

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// True if devices of the group may serve the cohort at all.
bool MayServe(const NodeView& node, const DeviceGroup& group, const Need& need,
              const Demand& demand) {
  return IsAccelerator(group) == need.accelerator &&
         (need.ranks == 1 || node.takes_gangs) &&
         !Contains(demand.never, node.name) &&
         (demand.more_memory_than == 0 ||
          group.memory_bytes * need.Devices() > demand.more_memory_than);
}

bool CouldHold(const NodeView& node, const DeviceGroup& group, const Need& need,
               const Demand& demand) {
  return group.total >= need.Devices() && MayServe(node, group, need, demand);
}

/// A group of devices that some ranks may go to.
struct Unit {
  NodeView* node = nullptr;
  DeviceGroup* group = nullptr;
  int64_t ranks = 0;  // for which devices are free

  auto Rank(const Demand& demand) const {
    return std::tuple(!node->closed.empty(), Contains(demand.avoid, node->name),
                      -ranks, node->name);
  }
};

/// One way to spread the ranks.
struct Choice {
  std::vector<std::pair<Unit, int64_t>> shares;  // ranks that each takes
  /// The least is taken: closed nodes, nodes to avoid, nodes.
  std::tuple<bool, bool, size_t> cost;
};

/// Null if there are not enough free devices of that type.
std::optional<Choice> Spread(std::vector<Unit> units, const Need& need,
                             const Demand& demand) {
  std::ranges::stable_sort(units, [&](const Unit& a, const Unit& b) {
    return a.Rank(demand) < b.Rank(demand);
  });
  Choice choice;
  int64_t left = need.ranks;
  bool closed = false;
  bool avoided = false;
  std::set<std::string> names;
  for (const Unit& unit : units) {
    if (left == 0) break;
    const int64_t taken = std::min(left, unit.ranks);
    left -= taken;
    choice.shares.emplace_back(unit, taken);
    closed = closed || !unit.node->closed.empty();
    avoided = avoided || Contains(demand.avoid, unit.node->name);
    names.insert(unit.node->name);
  }
  if (left > 0) return std::nullopt;
  choice.cost = {closed, avoided, names.size()};
  return choice;
}

std::vector<std::string> Take(DeviceGroup& group, int64_t count) {
  std::vector<std::string> taken(group.free.begin(),
                                 group.free.begin() + count);
  group.free.erase(group.free.begin(), group.free.begin() + count);
  return taken;
}

std::vector<Part> TakeChoice(const Choice& choice, const Need& need) {
  std::map<std::string, Part> parts;
  for (const auto& [unit, ranks] : choice.shares) {
    unit.node->takes_canary = false;
    Part& part =
        parts.try_emplace(unit.node->name, Part{unit.node->name, {}, 0})
            .first->second;
    part.ranks += ranks;
    for (std::string& device : Take(*unit.group, ranks * need.each)) {
      part.devices.push_back(std::move(device));
    }
  }
  std::vector<Part> list;
  list.reserve(parts.size());
  for (auto& [name, part] : parts) list.push_back(std::move(part));
  return list;
}

/// Free units of the kind that takes several ranks, by type.
std::map<std::string, std::vector<Unit>> FreeUnits(std::vector<NodeView>& nodes,
                                                   const Need& need,
                                                   const Demand& demand) {
  std::map<std::string, std::vector<Unit>> units;
  for (NodeView& node : nodes) {
    if (!node.closed.empty() && !node.takes_canary) continue;
    for (DeviceGroup& group : node.groups) {
      const int64_t ranks = std::ssize(group.free) / need.each;
      if (ranks > 0 && MayServe(node, group, need, demand)) {
        units[group.type].push_back({&node, &group, ranks});
      }
    }
  }
  return units;
}

std::vector<Part> TakeSpread(std::vector<NodeView>& nodes, const Need& need,
                             const Demand& demand) {
  std::optional<Choice> best;
  for (auto& [type, units] : FreeUnits(nodes, need, demand)) {
    auto choice = Spread(std::move(units), need, demand);
    if (choice && (!best || choice->cost < best->cost)) best = choice;
  }
  return best ? TakeChoice(*best, need) : std::vector<Part>{};
}

/// All ranks on one node, on the group that they leave fullest.
std::vector<Part> TakeTogether(std::vector<NodeView>& nodes, const Need& need,
                               const Demand& demand) {
  std::optional<Unit> best;
  std::tuple<bool, bool, size_t> best_rank;
  for (NodeView& node : nodes) {
    if (!node.closed.empty() && !node.takes_canary) continue;
    for (DeviceGroup& group : node.groups) {
      if (std::ssize(group.free) < need.Devices() ||
          !CouldHold(node, group, need, demand)) {
        continue;
      }
      const std::tuple rank(!node.closed.empty(),
                            Contains(demand.avoid, node.name),
                            group.free.size());
      if (!best || rank < best_rank) {
        best = Unit{&node, &group, need.ranks};
        best_rank = rank;
      }
    }
  }
  if (!best) return {};
  best->node->takes_canary = false;
  return {{best->node->name, Take(*best->group, need.Devices()), need.ranks}};
}

/// Ranks that the groups of each type could hold together, free or taken.
std::map<std::string, int64_t> RanksByType(const std::vector<NodeView>& nodes,
                                           const Need& need,
                                           const Demand& demand) {
  std::map<std::string, int64_t> ranks;
  for (const NodeView& node : nodes) {
    for (const DeviceGroup& group : node.groups) {
      if (MayServe(node, group, need, demand)) {
        ranks[group.type] += group.total / need.each;
      }
    }
  }
  return ranks;
}

/// By size alone.
bool IsEnoughTogether(const std::vector<NodeView>& nodes, const Need& need) {
  Demand any;
  any.ranks = need.ranks;
  return std::ranges::any_of(
      RanksByType(nodes, need, any),
      [&](const auto& entry) { return entry.second >= need.ranks; });
}

}  // namespace

Totals TotalsOf(const std::vector<NodeView>& nodes, bool gangs) {
  Totals totals;
  std::map<std::string, int64_t> all;
  for (const NodeView& node : nodes) {
    if (gangs && !node.takes_gangs) {
      ++totals.without_gangs;
      continue;
    }
    for (const DeviceGroup& group : node.groups) {
      int64_t& most = IsAccelerator(group) ? totals.most_accelerators
                                           : totals.most_cpu_slots;
      most = std::max(most, group.total);
      all[group.type] += group.total;
    }
  }
  for (const auto& [type, count] : all) {
    int64_t& most =
        type == kCpuType ? totals.all_cpu_slots : totals.all_accelerators;
    most = std::max(most, count);
  }
  return totals;
}

bool CouldHold(const NodeView& node, const Need& need, const Demand& demand) {
  return std::ranges::any_of(node.groups, [&](const DeviceGroup& group) {
    return CouldHold(node, group, need, demand);
  });
}

std::optional<Need> NeedOf(const std::vector<NodeView>& nodes,
                           const Totals& totals, const Demand& demand) {
  for (const bool accelerator : {true, false}) {
    Need need{accelerator, demand.ranks, accelerator ? 1 : demand.threads};
    const int64_t most =
        accelerator ? totals.most_accelerators : totals.most_cpu_slots;
    const int64_t all =
        accelerator ? totals.all_accelerators : totals.all_cpu_slots;
    const bool is_gang = demand.ranks > 1;
    if (most < need.Devices() &&
        (!is_gang || all < need.Devices() || !IsEnoughTogether(nodes, need))) {
      continue;
    }
    need.spread =
        is_gang && std::ranges::none_of(nodes, [&](const NodeView& node) {
          return CouldHold(node, need, demand);
        });
    return need;
  }
  return std::nullopt;
}

bool CouldShare(const std::vector<NodeView>& nodes, const NodeView& node,
                const Need& need, const Demand& demand) {
  const auto ranks = RanksByType(nodes, need, demand);
  return std::ranges::any_of(node.groups, [&](const DeviceGroup& group) {
    const auto all = ranks.find(group.type);
    return group.total >= need.each && all != ranks.end() &&
           all->second >= need.ranks && MayServe(node, group, need, demand);
  });
}

FreeShare FreeFor(const std::vector<NodeView>& nodes, const Need& need,
                  const Demand& demand) {
  std::map<std::string, FreeShare> free;
  for (const NodeView& node : nodes) {
    if (!node.closed.empty()) continue;
    std::map<std::string, int64_t> here;
    for (const DeviceGroup& group : node.groups) {
      if (!MayServe(node, group, need, demand)) continue;
      // Too few for a rank are of no use to several.
      const int64_t unusable =
          need.ranks > 1 ? std::ssize(group.free) % need.each : 0;
      here[group.type] += std::ssize(group.free) - unusable;
    }
    for (const auto& [type, devices] : here) {
      free[type].devices += devices;
      free[type].nodes += devices > 0 ? 1 : 0;
    }
  }
  FreeShare best;
  for (const auto& [type, share] : free) {
    if (share.devices > best.devices) best = share;
  }
  return best;
}

std::vector<Part> TakeDevices(std::vector<NodeView>& nodes, const Need& need,
                              const Demand& demand) {
  return need.spread ? TakeSpread(nodes, need, demand)
                     : TakeTogether(nodes, need, demand);
}

}  // namespace leadline::scheduler
