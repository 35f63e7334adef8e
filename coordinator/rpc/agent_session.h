// One agent's stream: what it says becomes commands.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include <absl/status/statusor.h>

#include "coordinator/control/command.h"
#include "coordinator/rpc/agent_sessions.h"
#include "coordinator/rpc/stream.h"
#include "leadline/v1/worker_service.pb.h"

namespace leadline::rpc {

/// One message is read at a time and the next when its changes are on disk, so
/// an agent cannot send faster than the store takes.
class AgentSession final
    : public BidiStream<v1::AgentMessage, v1::CoordinatorMessage> {
 public:
  AgentSession(control::SessionId id, AgentSessions& owner)
      : id_(id), owner_(owner) {}

  void Read() { ReadInto(&message_); }

  control::SessionId id() const { return id_; }

  /// As it named itself; empty before. For who was told of the session by
  /// control, which learns of it later.
  const std::string& node() const { return node_; }

  /// What the agent speaks; 0 before it has said so. Thread-safe.
  int32_t protocol() const { return protocol_; }

 private:
  void OnReadDone(bool ok) override;
  void Ended() override;

  /// True if it was an answer or a question, which control need not see.
  bool IsSettled();
  absl::StatusOr<control::Command> Convert();

  const control::SessionId id_;
  AgentSessions& owner_;
  v1::AgentMessage message_;
  bool registered_ = false;
  std::string node_;
  std::atomic<int32_t> protocol_ = 0;
};

}  // namespace leadline::rpc
