// Nodes as control sees them: what they have, what runs there, how they stand.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/experiment.h"
#include "common/ids.h"
#include "coordinator/control/command.h"
#include "coordinator/control/moment.h"

namespace leadline::control {

enum class NodeCondition {
  kReady,
  kQuarantined,  // takes no work but a canary
  kUnreachable,  // not connected, and attempts wait for it
  kGone,         // not connected, and nothing does
};

/// "ready"
std::string_view Name(NodeCondition state);

struct DeviceNow {
  DeviceInfo device;
  std::optional<AttemptKey> taken_by;
};

/// An attempt whose processes the node holds, or that waits for the node.
struct NodeAttempt {
  AttemptKey key;
  /// Of the trials it holds; null: it counts no more and is being ended.
  std::optional<TrialState> state = {};
  std::vector<std::string> devices = {};
  storage::WallTime started_at{};  // where it counts
  int64_t step = 0;
  int64_t world_size = 1;                       // its ranks on all nodes
  int64_t first_rank = 0;                       // of those here
  std::vector<storage::RankRecord> ranks = {};  // here
  int64_t trials = 0;
  TrialId first = {};
};

struct NodeNow {
  std::string name;
  NodeCondition state = NodeCondition::kGone;
  std::string reason;  // empty where it is ready
  AgentFacts agent;    // as it said last
  std::vector<DeviceNow> devices;
  std::vector<NodeAttempt> attempts;
  std::optional<storage::WallTime> connected_at;  // null: it is not
  std::optional<Seconds> connected;
  std::optional<Seconds> silent;  // null: never heard
};

struct NodesReport {
  std::vector<NodeNow> nodes;  // by name
};

struct ClearAnswer {
  bool was_quarantined = false;
  int64_t failures = 0;  // that were held against it
};

}  // namespace leadline::control
