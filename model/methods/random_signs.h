// Frozen balanced signs of a block's updates.

#pragma once

#include <cstdint>
#include <vector>

namespace leadline::model {

/// m/2 times +1, m/2 times -1 and, for odd m, one 0, shuffled with stream
/// `signs/random/<block>` of the seed.
std::vector<double> RandomSigns(uint64_t seed, int64_t block, int64_t m);

}  // namespace leadline::model
