// The draws of one schedule: nothing but its seed decides them.

#pragma once

#include <cstdint>
#include <random>

namespace leadline::simulation {

class Chance {
 public:
  explicit Chance(uint64_t seed) : engine_(seed) {}

  /// Uniform in [0, below).
  int64_t Below(int64_t below) {
    return static_cast<int64_t>(engine_() % static_cast<uint64_t>(below));
  }
  /// Uniform in [least, most).
  double Between(double least, double most) {
    return least + (most - least) * Unit();
  }
  bool Happens(double probability) { return Unit() < probability; }

 private:
  double Unit() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }

  std::mt19937_64 engine_;
};

}  // namespace leadline::simulation
