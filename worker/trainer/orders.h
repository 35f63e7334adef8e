// The lines an agent sends a trainer.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leadline::trainer {

struct Order {
  enum class Kind { kRenew, kStop, kDropReplica, kPeers };
  Kind kind = Kind::kRenew;
  int64_t replica = 0;  // to drop
  /// When it was good, on the machine's steady clock; null: now.
  std::optional<int64_t> as_of_ms = {};
  std::vector<std::string> peers = {};  // HOST:PORT of each rank
};

/// A line of this many bytes is the longest; 64 addresses fit.
inline constexpr size_t kLongestOrder = 16384;

/// Reads {"order":"renew"}, {"order":"stop"},
/// {"order":"drop_replica","replica":1} or
/// {"order":"peers","peers":["10.0.0.1:4000","10.0.0.2:4000"]}, each maybe with
/// "as_of_ms"; null for anything else. Other keys are let be: an agent may be
/// newer than its trainers.
std::optional<Order> ParseOrder(std::string_view line);

}  // namespace leadline::trainer
