// How many blocks of sublayers there are.

#pragma once

#include <cstdint>

namespace leadline::spec {

/// Blocks begun before sublayer l reads: finished ones and the running one. At
/// l = 2L, all blocks.
constexpr int64_t BlocksBegun(int64_t l, int64_t block_sublayers) {
  return (l + block_sublayers - 1) / block_sublayers;
}

/// Those of them that a router reads which sees the newest `window` finished
/// blocks and the running one.
constexpr int64_t BlocksRead(int64_t l, int64_t block_sublayers,
                             int64_t window) {
  const int64_t unread = l / block_sublayers - window;
  return BlocksBegun(l, block_sublayers) - (unread > 0 ? unread : 0);
}

}  // namespace leadline::spec
