// Random sweeps, each a function of its seed, as the parts of a sweep file.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/random_stream.h"

namespace leadline::sweep {

/// A sweep file before it is written: any order of its maps' keys means the
/// same.
struct SweepParts {
  using Map = std::vector<std::pair<std::string, std::string>>;

  std::vector<std::pair<std::string, std::vector<std::string>>> axes;
  Map settings;
  std::vector<std::vector<std::string>> zips;
  std::vector<Map> exclude;
  std::vector<std::pair<Map, Map>> when;
};

class RandomSweep {
 public:
  explicit RandomSweep(uint64_t seed) : draws_(seed, "test/sweep") {}

  SweepParts Parts();

  /// The text, the keys of its unordered maps shuffled.
  std::string Write(const SweepParts& parts);

 private:
  size_t Below(size_t n) { return draws_.Integer(next_++, n); }
  template <typename Items>
  void Shuffle(Items& items);
  SweepParts::Map Pattern(const SweepParts& parts);
  std::string WriteMap(SweepParts::Map map);

  RandomStream draws_;
  uint64_t next_ = 0;
};

}  // namespace leadline::sweep
