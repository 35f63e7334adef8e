// The agent's end of a trainer's order socket: JSON lines, one way.

#pragma once

#include <chrono>
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

  /// Writes {"order":"<order>","as_of_ms":N} and a newline, N on the machine's
  /// steady clock. False if the trainer does not listen yet, or reads so slowly
  /// that the line does not fit.
  bool Send(std::string_view order,
            std::chrono::steady_clock::time_point as_of);

 private:
  bool Connect();

  std::filesystem::path folder_;
  FileDescriptor socket_;
};

}  // namespace leadline::agent
