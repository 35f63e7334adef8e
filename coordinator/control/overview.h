// The coordinator's state at a moment, counted: for those who measure it.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "coordinator/control/state.h"

namespace leadline::control {

enum class NodeState {
  kConnected,
  kQuarantined,  // connected, and takes no work but a canary
  kDisconnected,
};

inline constexpr std::array kNodeStates = {
    NodeState::kConnected, NodeState::kQuarantined, NodeState::kDisconnected};

enum class DeviceState {
  kFree,
  kHeld,         // by an attempt whose processes are not known to be gone
  kQuarantined,  // free, but its node is in quarantine
  kUnreachable,  // its node is disconnected
};

inline constexpr std::array kDeviceStates = {
    DeviceState::kFree, DeviceState::kHeld, DeviceState::kQuarantined,
    DeviceState::kUnreachable};

/// The words used in metrics: "connected", "held".
std::string_view Name(NodeState state);
std::string_view Name(DeviceState state);

struct SweepCounts {
  SweepId id;
  SweepState state = SweepState::kActive;
  std::array<int64_t, kTrialStates.size()> trials{};  // by state, in its order
};

struct Overview {
  SteadyTime at;
  /// Those in memory: all that are unfinished, and some that ended of late.
  std::vector<SweepCounts> sweeps;  // oldest first
  std::array<int64_t, kNodeStates.size()> nodes{};
  std::array<int64_t, kDeviceStates.size()> devices{};
  /// The longest that a cohort of an active sweep has waited for a device, as
  /// far as this coordinator has seen; 0 if none waits.
  Seconds oldest_wait{0};
};

Overview Count(const State& state, SteadyTime now);

}  // namespace leadline::control
