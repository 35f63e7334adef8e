// Which sweeps have series: those that are not over, and for a while those that
// are.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "coordinator/control/overview.h"

namespace leadline::metrics {

/// Owned by one thread at a time.
class ShownSweeps {
 public:
  /// What control has in memory now. A sweep that it forgot is over.
  void Take(const control::Overview& overview);

  /// The newest at `now`, oldest first.
  std::vector<control::SweepCounts> List(control::SteadyTime now);

  /// How many of the last list had no room.
  int64_t left_out() const { return left_out_; }

 private:
  struct Shown {
    control::SweepCounts counts;
    std::optional<control::SteadyTime> ended_at;
  };

  std::map<SweepId, Shown> sweeps_;
  int64_t left_out_ = 0;
};

}  // namespace leadline::metrics
