// The agent's side of the stream to its coordinator, whatever carries it.

#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include <absl/status/status.h>

#include "leadline/v1/worker_service.pb.h"

namespace leadline::agent {

/// A stream stands: Register is to be the first message on it.
struct StreamOpened {
  /// This machine's address on it, for others to reach; empty: not known.
  std::string local_address = {};
};
/// It is gone, or could not be made. Another will be tried.
struct StreamClosed {
  absl::Status status;
};

/// What happens on stream number `stream`, in order.
struct SessionEvent {
  int64_t stream = 0;
  std::variant<StreamOpened, v1::CoordinatorMessage, StreamClosed> what;
};

class AgentLink {
 public:
  virtual ~AgentLink() = default;

  /// Queues the message for that stream; dropped if the stream is gone.
  virtual void Send(int64_t stream, v1::AgentMessage message) = 0;

  /// False while much waits to be written: what can wait should.
  virtual bool HasRoom() const = 0;

  /// Breaks that stream off, if it is still there.
  virtual void Break(int64_t stream) = 0;
};

}  // namespace leadline::agent
