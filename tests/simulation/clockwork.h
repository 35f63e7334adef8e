// Simulated time: what is due happens in order, and nothing else moves.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace leadline::simulation {

using SteadyTime = std::chrono::steady_clock::time_point;
using Duration = SteadyTime::duration;

inline Duration Seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(seconds));
}

class Clockwork {
 public:
  SteadyTime now() const { return now_; }

  /// Seconds since the simulation began.
  double Elapsed() const {
    return std::chrono::duration<double>(now_ - kBegin).count();
  }

  void After(Duration delay, std::function<void()> action) {
    const SteadyTime due = now_ + std::max(delay, Duration::zero());
    due_.emplace(std::pair(due, ++last_), std::move(action));
  }

  /// Lets the next thing happen; false if it is not due by `until`, which is
  /// then the time.
  bool StepUntil(SteadyTime until) {
    if (due_.empty() || due_.begin()->first.first > until) {
      now_ = until;
      return false;
    }
    auto next = due_.extract(due_.begin());
    now_ = next.key().first;
    next.mapped()();
    return true;
  }

  static constexpr SteadyTime kBegin{std::chrono::hours(1000)};

 private:
  SteadyTime now_ = kBegin;
  int64_t last_ = 0;  // breaks ties in the order of asking
  std::map<std::pair<SteadyTime, int64_t>, std::function<void()>> due_;
};

}  // namespace leadline::simulation
