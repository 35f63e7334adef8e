// Who sends what to whom in an operation of a ring. Pure.

#pragma once

#include <cstdint>
#include <optional>

#include "worker/collective/ring/frame.h"

namespace leadline::collective {

/// Elements [begin, begin + count).
struct Part {
  uint64_t begin = 0;
  uint64_t count = 0;
  bool operator==(const Part&) const = default;
};

/// Part `index` of `size` nearly equal ones.
Part PartOf(uint64_t count, int64_t size, int64_t index);

/// What one rank does in one turn: it sends to the rank after it and receives
/// from the one before it, at the same time.
struct Turn {
  std::optional<Part> out{};
  std::optional<Part> in{};
  bool adds = false;    // what comes in is added to what is there
  uint32_t number = 0;  // as a frame names it
};

/// Null after the last turn.
///
/// A sum: first each part goes once around, from the rank of its number on, and
/// grows; then the finished parts go around. So part p is ((x_p + x_p+1) + ...)
/// on every rank, on every run. A barrier is a sum of nothing.
std::optional<Turn> TurnOf(const Operation& operation, int64_t rank,
                           int64_t size, int64_t turn);

}  // namespace leadline::collective
