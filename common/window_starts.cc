#include "common/window_starts.h"

#include <string>

#include "common/random_stream.h"

namespace leadline {

std::vector<int64_t> WindowStarts(uint64_t seed, int64_t step, int64_t first,
                                  int64_t count, int64_t symbols,
                                  int64_t context) {
  const RandomStream stream(seed, "data/train/" + std::to_string(step));
  std::vector<int64_t> starts;
  starts.reserve(count);
  for (int64_t j = first; j < first + count; ++j) {
    starts.push_back(
        static_cast<int64_t>(stream.Integer(j, symbols - context)));
  }
  return starts;
}

}  // namespace leadline
