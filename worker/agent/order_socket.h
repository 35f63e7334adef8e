// The agent's end of a trainer's order socket: JSON lines, one way.

#pragma once

#include <filesystem>
#include <string_view>

#include "worker/agent/file_descriptor.h"

namespace leadline::agent {

/// Connects when first needed, and again when the trainer closed. Never waits.
/// Owned by one thread.
class OrderSocket {
 public:
  explicit OrderSocket(std::filesystem::path folder)
      : folder_(std::move(folder)) {}

  /// Writes {"order":"<order>"} and a newline. False if the trainer does not
  /// listen yet, or reads so slowly that the line does not fit.
  bool Send(std::string_view order);

 private:
  bool Connect();

  std::filesystem::path folder_;
  FileDescriptor socket_;
};

}  // namespace leadline::agent
