// The lines an agent sends a trainer.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace leadline::trainer {

struct Order {
  enum class Kind { kRenew, kStop, kDropReplica };
  Kind kind = Kind::kRenew;
  int64_t replica = 0;  // to drop
  /// When it was good, on the machine's steady clock; null: now.
  std::optional<int64_t> as_of_ms = {};
};

/// Reads {"order":"renew"}, {"order":"stop"} or
/// {"order":"drop_replica","replica":1}, each maybe with "as_of_ms"; null for
/// anything else. Other keys are let be: an agent may be newer than its
/// trainers.
std::optional<Order> ParseOrder(std::string_view line);

}  // namespace leadline::trainer
