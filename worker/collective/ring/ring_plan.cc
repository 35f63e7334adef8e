#include "worker/collective/ring/ring_plan.h"

#include <algorithm>

namespace leadline::collective {
namespace {

int64_t Around(int64_t place, int64_t size) {
  return (place % size + size) % size;
}

std::optional<Turn> TurnOfSum(uint64_t count, int64_t rank, int64_t size,
                              int64_t turn) {
  if (turn >= 2 * (size - 1)) return std::nullopt;
  const bool adds = turn < size - 1;
  const int64_t out = adds ? rank - turn : rank + 1 - (turn - (size - 1));
  return Turn{.out = PartOf(count, size, Around(out, size)),
              .in = PartOf(count, size, Around(out - 1, size)),
              .adds = adds,
              .number = static_cast<uint32_t>(turn)};
}

// From the root on, each rank to the next.
std::optional<Turn> TurnOfCopy(const Operation& operation, int64_t rank,
                               int64_t size, int64_t turn) {
  const int64_t place = Around(rank - operation.root, size);
  const bool receives = place > 0;
  const bool sends = place < size - 1;
  if (turn >= (receives ? 1 : 0) + (sends ? 1 : 0)) return std::nullopt;
  const Part whole{0, operation.count};
  if (receives && turn == 0) return Turn{.in = whole};
  return Turn{.out = whole};
}

}  // namespace

Part PartOf(uint64_t count, int64_t size, int64_t index) {
  const auto parts = static_cast<uint64_t>(size);
  const auto at = static_cast<uint64_t>(index);
  const uint64_t each = count / parts;
  const uint64_t longer = count % parts;
  return {each * at + std::min(at, longer), each + (at < longer ? 1 : 0)};
}

std::optional<Turn> TurnOf(const Operation& operation, int64_t rank,
                           int64_t size, int64_t turn) {
  if (operation.task == Task::kCopy) {
    return TurnOfCopy(operation, rank, size, turn);
  }
  return TurnOfSum(operation.count, rank, size, turn);
}

}  // namespace leadline::collective
