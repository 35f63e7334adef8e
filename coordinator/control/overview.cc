#include "coordinator/control/overview.h"

#include <algorithm>
#include <set>
#include <string>

namespace leadline::control {
namespace {

template <typename Counts, typename Which>
int64_t& Of(Counts& counts, Which which) {
  return counts[static_cast<size_t>(which)];
}

NodeState StateOf(const Node& node) {
  if (!node.session) return NodeState::kDisconnected;
  return node.record.quarantined ? NodeState::kQuarantined
                                 : NodeState::kConnected;
}

void CountNode(const Node& node, Overview& overview) {
  const NodeState state = StateOf(node);
  ++Of(overview.nodes, state);
  std::set<std::string> held;
  for (const auto& [key, devices] : node.held) {
    held.insert(devices.begin(), devices.end());
  }
  for (const DeviceInfo& device : node.devices) {
    DeviceState what = DeviceState::kFree;
    if (state == NodeState::kDisconnected) {
      what = DeviceState::kUnreachable;
    } else if (held.contains(device.id)) {
      what = DeviceState::kHeld;
    } else if (state == NodeState::kQuarantined) {
      what = DeviceState::kQuarantined;
    }
    ++Of(overview.devices, what);
  }
}

}  // namespace

std::string_view Name(NodeState state) {
  switch (state) {
    case NodeState::kConnected:
      return "connected";
    case NodeState::kQuarantined:
      return "quarantined";
    case NodeState::kDisconnected:
      return "disconnected";
  }
  return "";
}

std::string_view Name(DeviceState state) {
  switch (state) {
    case DeviceState::kFree:
      return "free";
    case DeviceState::kHeld:
      return "held";
    case DeviceState::kQuarantined:
      return "quarantined";
    case DeviceState::kUnreachable:
      return "unreachable";
  }
  return "";
}

Overview Count(const State& state, SteadyTime now) {
  Overview overview;
  overview.at = now;
  for (const auto& [id, sweep] : state.sweeps) {
    overview.sweeps.push_back({id, sweep.record.state, sweep.trials});
  }
  for (const auto& [name, node] : state.nodes) CountNode(node, overview);
  for (const auto& [id, ages] : state.lines.by_age) {
    const auto sweep = state.sweeps.find(id);
    if (sweep == state.sweeps.end() ||
        sweep->second.record.state != SweepState::kActive) {
      continue;
    }
    overview.oldest_wait =
        std::max(overview.oldest_wait, Seconds(now - ages.begin()->first));
  }
  return overview;
}

}  // namespace leadline::control
