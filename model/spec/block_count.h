// How many blocks of sublayers there are.

#pragma once

#include <cstdint>

namespace leadline::spec {

/// Blocks begun before sublayer l reads: finished ones and the running one. At
/// l = 2L, all blocks.
constexpr int64_t BlocksBegun(int64_t l, int64_t block_sublayers) {
  return (l + block_sublayers - 1) / block_sublayers;
}

}  // namespace leadline::spec
