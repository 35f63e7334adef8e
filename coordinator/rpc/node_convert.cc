#include "coordinator/rpc/node_convert.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <absl/status/status.h>

#include "common/utf8_prefix.h"
#include "coordinator/rpc/convert.h"

namespace leadline::rpc {
namespace {

constexpr int64_t kUsualNodes = 1000;
constexpr size_t kPageBytes = size_t{400} << 10;  // of nodes, devices, attempts
constexpr size_t kLongestReason = 2000;
constexpr size_t kMostKinds = 100;  // of devices of one node

void CountDevices(const control::NodeNow& node, v1::NodeSummary& message) {
  std::map<std::pair<std::string, int64_t>, std::pair<int64_t, int64_t>> kinds;
  for (const control::DeviceNow& one : node.devices) {
    auto& [total, busy] = kinds[{one.device.type, one.device.memory_bytes}];
    ++total;
    busy += one.taken_by ? 1 : 0;
  }
  for (const auto& [kind, count] : kinds) {
    if (message.devices_size() == kMostKinds) break;
    v1::DeviceCount& group = *message.add_devices();
    group.set_type(kind.first);
    group.set_memory_bytes(kind.second);
    group.set_total(count.first);
    group.set_busy(count.second);
  }
}

v1::DeviceNow ToProto(const control::DeviceNow& now) {
  v1::DeviceNow message;
  message.set_id(now.device.id);
  message.set_type(now.device.type);
  message.set_memory_bytes(now.device.memory_bytes);
  if (now.taken_by) message.set_attempt(ToText(*now.taken_by));
  return message;
}

v1::NodeAttempt ToProto(const control::NodeAttempt& attempt) {
  v1::NodeAttempt message;
  message.set_attempt(ToText(attempt.key));
  for (const std::string& device : attempt.devices) message.add_devices(device);
  if (!attempt.state) {
    message.set_state("ending");
    return message;
  }
  message.set_state(std::string(Name(*attempt.state)));
  if (attempt.trials > 0) message.set_first_trial(ToText(attempt.first));
  message.set_trials(attempt.trials);
  message.set_started_at(storage::ToText(attempt.started_at));
  message.set_step(attempt.step);
  message.set_world_size(attempt.world_size);
  for (const storage::RankRecord& rank : attempt.ranks) {
    *message.add_ranks() =
        rpc::ToProto(rank, attempt.first_rank + message.ranks_size());
  }
  if (!attempt.ranks.empty()) message.set_pid(attempt.ranks.front().pid);
  return message;
}

/// Adds as many as fit to `list`; the number of those that do not.
template <typename Value, typename List>
int64_t AddThatFit(const std::vector<Value>& values, List& list) {
  size_t bytes = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    auto message = ToProto(values[i]);
    bytes += message.ByteSizeLong();
    if (bytes > kPageBytes) return static_cast<int64_t>(values.size() - i);
    *list.Add() = std::move(message);
  }
  return 0;
}

}  // namespace

v1::NodeSummary ToProto(const control::NodeNow& node) {
  v1::NodeSummary message;
  message.set_node(node.name);
  message.set_state(std::string(Name(node.state)));
  message.set_reason(std::string(Utf8Prefix(node.reason, kLongestReason)));
  message.set_host(node.agent.host);
  message.set_version(node.agent.version);
  message.set_commit(node.agent.commit);
  message.set_protocol_version(node.agent.protocol_version);
  message.set_pid(node.agent.pid);
  CountDevices(node, message);
  message.set_attempts(std::ssize(node.attempts));
  if (node.connected_at) {
    message.set_connected_at(storage::ToText(*node.connected_at));
  }
  if (node.connected) message.set_connected_seconds(node.connected->count());
  if (node.silent) message.set_silent_seconds(node.silent->count());
  return message;
}

v1::ShowNodeReply ToShowReply(const control::NodeNow& node) {
  v1::ShowNodeReply reply;
  *reply.mutable_node() = ToProto(node);
  reply.set_devices_left_out(
      AddThatFit(node.devices, *reply.mutable_devices()));
  reply.set_attempts_left_out(
      AddThatFit(node.attempts, *reply.mutable_attempts()));
  return reply;
}

absl::StatusOr<v1::ListNodesReply> ToListReply(
    const control::NodesReport& report, const v1::ListNodesRequest& request) {
  if (request.limit() < 0) {
    return absl::InvalidArgumentError("limit must not be negative");
  }
  const int64_t limit = request.limit() == 0 ? kUsualNodes : request.limit();
  v1::ListNodesReply reply;
  reply.set_total(std::ssize(report.nodes));
  auto at = std::ranges::upper_bound(report.nodes, request.after(), {},
                                     &control::NodeNow::name);
  if (request.after().empty()) at = report.nodes.begin();
  size_t bytes = 0;
  for (; at != report.nodes.end() && reply.nodes_size() < limit; ++at) {
    v1::NodeSummary message = ToProto(*at);
    bytes += message.ByteSizeLong();
    if (bytes > kPageBytes && reply.nodes_size() > 0) break;
    *reply.add_nodes() = std::move(message);
  }
  return reply;
}

}  // namespace leadline::rpc
