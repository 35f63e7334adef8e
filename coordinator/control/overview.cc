#include "coordinator/control/overview.h"

#include <algorithm>
#include <set>
#include <string>

namespace leadline::control {
namespace {

// Looking at a hundred thousand cohorts takes some milliseconds.
constexpr std::chrono::seconds kBetweenNotes{1};

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

const Cohort& Find(const Sweep& sweep, const CohortId& id) {
  return sweep.cells[id.cell.number - 1].cohorts[id.number];
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

void NoteWaits(State& state, SteadyTime now) {
  if (now - state.waits_noted_at < kBetweenNotes) return;
  state.waits_noted_at = now;
  for (const CohortId& id : state.waiting) {
    Cohort& cohort = *state.FindCohort(id);
    if (!cohort.waits_since) cohort.waits_since = now;
  }
}

Overview Count(const State& state, SteadyTime now) {
  Overview overview;
  overview.at = now;
  for (const auto& [id, sweep] : state.sweeps) {
    overview.sweeps.push_back({id, sweep.record.state, sweep.trials});
  }
  for (const auto& [name, node] : state.nodes) CountNode(node, overview);
  for (const CohortId& id : state.waiting) {
    const Sweep& sweep = state.sweeps.at(id.cell.sweep);
    const Cohort& cohort = Find(sweep, id);
    if (sweep.record.state != SweepState::kActive || !cohort.waits_since) {
      continue;
    }
    overview.oldest_wait =
        std::max(overview.oldest_wait, Seconds(now - *cohort.waits_since));
  }
  return overview;
}

}  // namespace leadline::control
