// Asks agents for what their trainers printed.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <absl/status/statusor.h>

#include "common/ids.h"

namespace leadline::rpc {

struct LogQuery {
  AttemptKey attempt;
  std::string stream;  // "stdout", "stderr", "events"
  int64_t offset = 0;
  int64_t limit = 0;  // bytes
  int64_t rank = 0;   // of the attempt
};

struct LogPiece {
  std::string data;
  bool at_end = false;
  int64_t size = 0;  // bytes of the whole log, now
};

/// Thread-safe.
class LogSource {
 public:
  using Found = std::function<void(absl::StatusOr<LogPiece>)>;

  virtual ~LogSource() = default;

  /// Calls `found` once, from some thread, perhaps before it returns.
  /// Unavailable if the node is not connected or goes before it answers;
  /// NotFound with the agent's words if it has no such log.
  virtual void ReadLog(const std::string& node, const LogQuery& query,
                       Found found) = 0;
};

}  // namespace leadline::rpc
