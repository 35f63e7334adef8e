// The agent's end of a trainer's order socket: a JSON line an order, and one
// that answers.

#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

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

  /// What keeps the trainer from going on, as its newest answer says; empty:
  /// nothing.
  const std::string& Waits();

  /// Likewise the order "peers" with those addresses, which hold nothing that
  /// JSON would have to escape.
  bool SendPeers(const std::vector<std::string>& peers,
                 std::chrono::steady_clock::time_point as_of);

 private:
  bool SendLine(const std::string& line);
  bool Connect();
  void Forget();

  std::filesystem::path folder_;
  FileDescriptor socket_;
  std::string answers_;  // the end of the last, maybe not whole
  std::string waits_;
};

}  // namespace leadline::agent
