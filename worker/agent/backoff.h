// How long to wait before trying again.

#pragma once

#include <chrono>
#include <random>

namespace leadline::agent {

/// Doubles from `least` to `most`; each wait is a random part, from half to all
/// of it, so that agents of one coordinator do not come back together.
class Backoff {
 public:
  Backoff(std::chrono::milliseconds least, std::chrono::milliseconds most,
          uint64_t seed)
      : least_(least), most_(most), next_(least), random_(seed) {}

  std::chrono::milliseconds Next() {
    const auto whole = next_;
    next_ = std::min(most_, 2 * next_);
    std::uniform_int_distribution<int64_t> part(whole.count() / 2,
                                                whole.count());
    return std::chrono::milliseconds(part(random_));
  }

  /// After a success.
  void Reset() { next_ = least_; }

 private:
  std::chrono::milliseconds least_;
  std::chrono::milliseconds most_;
  std::chrono::milliseconds next_;
  std::mt19937_64 random_;
};

}  // namespace leadline::agent
