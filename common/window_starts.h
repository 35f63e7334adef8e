// Where training reads the text: a pure function of seed and step.

#pragma once

#include <cstdint>
#include <vector>

namespace leadline {

/// Starts of sequences [first, first + count) of the global batch of one step:
/// number j is integer j of stream `data/train/<step>`, below `symbols` -
/// `context`. There must be more symbols than a context.
std::vector<int64_t> WindowStarts(uint64_t seed, int64_t step, int64_t first,
                                  int64_t count, int64_t symbols,
                                  int64_t context);

}  // namespace leadline
