// The life of a process that may be stopped for a while, killed, and started
// again.

#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "clockwork.h"

namespace leadline::simulation {

class ProcessLife {
 public:
  explicit ProcessLife(Clockwork& clockwork) : clockwork_(clockwork) {}

  void Begin() {
    ++number_;
    lives_ = true;
  }
  void End() {
    ++number_;
    lives_ = false;
    stalled_ = false;
    stalled_until_ = {};
    undone_.clear();
  }

  bool IsAwake() const { return lives_ && !stalled_; }
  /// Another one after each beginning and each end.
  int64_t number() const { return number_; }

  /// SIGSTOP, and SIGCONT after a time.
  void Stall(Duration time) {
    if (!lives_) return;
    stalled_ = true;
    stalled_until_ = std::max(stalled_until_, clockwork_.now() + time);
    clockwork_.After(time, [this, number = number_] {
      if (number != number_ || clockwork_.now() < stalled_until_) return;
      stalled_ = false;
      for (const auto& action : std::exchange(undone_, {})) {
        if (number == number_) action();
      }
    });
  }

  /// Lets it do something, once it is awake, unless it has died by then.
  void Do(std::function<void()> action) {
    if (!lives_) return;
    if (stalled_) {
      undone_.push_back(std::move(action));
    } else {
      action();
    }
  }
  void Later(Duration delay, std::function<void()> action) {
    clockwork_.After(
        delay, [this, number = number_, action = std::move(action)]() mutable {
          if (number == number_) Do(std::move(action));
        });
  }

 private:
  Clockwork& clockwork_;
  int64_t number_ = 0;
  bool lives_ = false;
  bool stalled_ = false;
  SteadyTime stalled_until_{};
  std::deque<std::function<void()>> undone_;
};

}  // namespace leadline::simulation
