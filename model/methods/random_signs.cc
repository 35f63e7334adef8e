#include "model/methods/random_signs.h"

#include <string>
#include <utility>

#include "common/random_stream.h"

namespace leadline::model {

std::vector<double> RandomSigns(uint64_t seed, int64_t block, int64_t m) {
  std::vector<double> signs;
  signs.insert(signs.end(), m / 2, 1.0);
  signs.insert(signs.end(), m / 2, -1.0);
  signs.resize(m, 0.0);
  const RandomStream stream(seed, "signs/random/" + std::to_string(block));
  // Fisher-Yates from the end.
  for (int64_t i = m - 1; i >= 1; --i) {
    std::swap(signs[i], signs[stream.Integer(m - 1 - i, i + 1)]);
  }
  return signs;
}

}  // namespace leadline::model
