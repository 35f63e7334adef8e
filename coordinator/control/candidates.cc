#include "coordinator/control/candidates.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "common/human_number.h"
#include "coordinator/control/failure_policy.h"
#include "coordinator/control/quarantine.h"

namespace leadline::control {
namespace {

template <typename Filter>
std::vector<scheduler::NodeView> Views(const Step& step, Filter filter) {
  std::vector<scheduler::NodeView> views;
  for (const auto& [name, node] : step.state.nodes) {
    if (filter(node)) views.push_back(ViewOf(node, step.now.steady));
  }
  return views;
}

/// Connected, or a moment ago. Not by when it was heard: it may be us who did
/// not listen.
bool MayHold(const Step& step, const Node& node) {
  return node.session || (node.lost_at && step.now.steady - *node.lost_at <=
                                              PatienceWithNodes(step.policy));
}

}  // namespace

SteadyTime::duration PatienceWithNodes(const Policy& policy) {
  return std::chrono::duration_cast<SteadyTime::duration>(policy.lease +
                                                          policy.grace);
}

scheduler::NodeView ViewOf(const Node& node, SteadyTime now) {
  std::set<std::string> taken;
  for (const auto& [key, devices] : node.held) {
    taken.insert(devices.begin(), devices.end());
  }
  std::map<std::pair<std::string, int64_t>, scheduler::DeviceGroup> groups;
  for (const DeviceInfo& device : node.devices) {
    scheduler::DeviceGroup& group = groups[{device.type, device.memory_bytes}];
    group.type = device.type;
    group.memory_bytes = device.memory_bytes;
    ++group.total;
    if (!taken.contains(device.id)) group.free.push_back(device.id);
  }
  scheduler::NodeView view;
  view.name = node.name;
  view.closed = WhyClosed(node, now);
  view.takes_canary = TakesCanary(node, now);
  view.takes_gangs = node.takes_gangs;
  for (auto& [kind, group] : groups) view.groups.push_back(std::move(group));
  return view;
}

bool MoreMayCome(const Step& step) {
  const State& state = step.state;
  if (!state.agents_may_return) return false;
  return !state.served_since || step.now.steady - *state.served_since <=
                                    PatienceWithNodes(step.policy);
}

scheduler::Demand DemandOf(const Step& step, const Cohort& cohort) {
  const storage::CohortRecord& record = cohort.record;
  const Cell& cell = *step.state.FindCell(record.id.cell);
  scheduler::Demand demand{cell.devices, cell.threads};
  demand.more_memory_than = record.memory_tried;
  if (record.waits_after &&
      PolicyOf(*record.waits_after).retry == RetryWhere::kOnOtherNode) {
    demand.never = record.failed_nodes;
  } else {
    demand.avoid = record.failed_nodes;
  }
  return demand;
}

bool HasComparison(const Step& step, const std::string& name,
                   const Cohort& cohort) {
  const scheduler::Demand demand = DemandOf(step, cohort);
  const auto views =
      Views(step, [](const Node& node) { return node.session.has_value(); });
  std::vector<scheduler::NodeView> sound;
  bool fits_on_one = demand.ranks == 1;
  for (const scheduler::NodeView& view : views) {
    const storage::NodeRecord& record = step.state.nodes.at(view.name).record;
    const bool is_sound =
        view.name != name && !record.quarantined && !record.undecided;
    if (is_sound) sound.push_back(view);
    fits_on_one =
        fits_on_one || !scheduler::WhoCouldHold({view}, demand).empty();
  }
  // Ranks that no node could hold alone are compared where the others together
  // could.
  if (!fits_on_one) return !scheduler::WhoCouldHold(sound, demand).empty();
  return std::ranges::any_of(
      scheduler::WhoCouldHold(views, demand), [&](const std::string& other) {
        return std::ranges::find(sound, other, &scheduler::NodeView::name) !=
               sound.end();
      });
}

std::string WhyHopeless(const Step& step, const Cohort& cohort) {
  const scheduler::Demand demand = DemandOf(step, cohort);
  if (demand.more_memory_than == 0 && demand.never.empty()) return "";
  if (MoreMayCome(step)) return "";
  const auto views =
      Views(step, [&](const Node& node) { return MayHold(step, node); });
  if (!scheduler::WhoCouldHold(views, demand).empty()) return "";
  if (!demand.never.empty()) return "there is no other node to try it on";
  return "it ran out of " + HumanBytes(demand.more_memory_than) +
         ", and no node has more";
}

}  // namespace leadline::control
