#include "coordinator/scheduler/why_deferred.h"

#include <cstdint>
#include <utility>

#include "common/human_number.h"

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

std::string MemoryWanted(const Demand& demand) {
  if (demand.more_memory_than == 0) return "";
  return " with more memory than the " + HumanBytes(demand.more_memory_than) +
         " it ran out of";
}

std::string TooLarge(const Totals& totals, const Demand& demand) {
  const std::string needs = "needs " + Counted(demand.ranks, true) + " or " +
                            Counted(demand.ranks * demand.threads, false);
  if (demand.ranks == 1) {
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

/// One demand against nodes that have not enough free.
class Explainer {
 public:
  Explainer(const std::vector<NodeView>& nodes, const Need& need,
            const Demand& demand)
      : nodes_(nodes), need_(need), demand_(demand) {}

  /// Everything that could hold it is taken or closed, or nothing could.
  WhyDeferred Explain() const {
    std::string closed;
    int64_t could = 0;
    int64_t not_closed = 0;
    for (const NodeView& node : nodes_) {
      if (!WouldDo(node)) continue;
      ++could;
      not_closed += node.closed.empty() ? 1 : 0;
      if (closed.empty()) closed = node.closed;
    }
    if (could == 0) return {NoneWouldDo(), true};
    if (not_closed == 0) {
      if (could > 1) {
        closed += "; so are " + std::to_string(could - 1) + " other nodes";
      }
      return {std::move(closed), false};
    }
    std::string reason = need_.spread ? WaitsForShares() : WaitsForNode();
    if (!closed.empty()) reason += "; " + closed;
    return {std::move(reason), false};
  }

 private:
  bool WouldDo(const NodeView& node) const {
    return need_.spread ? CouldShare(nodes_, node, need_, demand_)
                        : CouldHold(node, need_, demand_);
  }

  std::string WaitsForShares() const {
    const FreeShare free = FreeFor(nodes_, need_, demand_);
    return "needs " + Counted(need_) + " at once" + MemoryWanted(demand_) +
           "; " + std::to_string(free.devices) +
           (free.devices == 1 ? " is" : " are") + " free" +
           (free.nodes > 0 ? " on " + Nodes(free.nodes) : "");
  }

  std::string WaitsForNode() const {
    std::string reason =
        "waits for " + Counted(need_) + " on one node" + MemoryWanted(demand_);
    if (need_.Devices() == 1) return reason;
    std::pair<int64_t, std::string> most{-1, ""};
    for (const NodeView& node : nodes_) {
      if (!node.closed.empty() || !WouldDo(node)) continue;
      const int64_t free = FreeFor({node}, need_, demand_).devices;
      if (free > most.first) most = {free, node.name};
    }
    return reason + "; " + std::to_string(most.first) +
           (most.first == 1 ? " is" : " are") + " free on node " + most.second;
  }

  std::string NoneWouldDo() const {
    if (demand_.more_memory_than > 0) {
      return "ran out of " + HumanBytes(demand_.more_memory_than) +
             " of memory, and no node with " + Counted(need_) + " has more";
    }
    std::string nodes;
    for (const std::string& node : demand_.never) {
      nodes += (nodes.empty() ? "" : ", ") + node;
    }
    return "failed on node " + nodes + " and waits for another";
  }

  const std::vector<NodeView>& nodes_;
  const Need& need_;
  const Demand& demand_;
};

}  // namespace

WhyDeferred Explain(const std::vector<NodeView>& nodes, const Totals& totals,
                    const std::optional<Need>& need, const Demand& demand) {
  if (nodes.empty()) return {"no agent is connected", true};
  if (!need) return {TooLarge(totals, demand), true};
  return Explainer(nodes, *need, demand).Explain();
}

std::string WaitsForLimit(const SweepLimit& limit) {
  return "limits.parallel of the sweep is " + std::to_string(limit.parallel);
}

}  // namespace leadline::scheduler
