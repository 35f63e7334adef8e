// When a training is kept in a checkpoint.

#pragma once

#include <chrono>
#include <cstdint>

#include "model/spec/settings.h"

namespace leadline::trainer {

/// Decides by the setting `checkpoint_every`. Owned by one thread.
class CheckpointSchedule {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Between two checkpoints of `auto`.
  static constexpr std::chrono::minutes kAutoInterval{10};

  /// Training begins at `now`.
  CheckpointSchedule(const spec::Settings& settings, Time now);

  /// False if there will be none at all.
  bool Wanted() const { return mode_ != Mode::kOff; }

  /// After so many steps, at `now`.
  bool IsDue(int64_t steps_done, Time now) const;

  /// True if one is written when a training has to stop before its end, so that
  /// it can go on from there.
  bool WantedAtStop() const {
    return mode_ == Mode::kAuto || mode_ == Mode::kSteps;
  }

  /// True if they serve for going on alone, and nobody asked for them.
  bool GoWithTheEnd() const { return mode_ == Mode::kAuto; }

  void Written(Time now) { last_ = now; }

 private:
  enum class Mode { kOff, kEnd, kAuto, kSteps };

  Mode mode_ = Mode::kOff;
  int64_t every_ = 0;
  int64_t steps_;
  Time last_;
};

}  // namespace leadline::trainer
