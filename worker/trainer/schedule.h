// The learning rate of each step.

#pragma once

#include <cstdint>

#include "model/spec/settings.h"

namespace leadline::trainer {

/// Linear warm-up over ceil(warmup * steps) steps, then a cosine that reaches
/// lr_min in the last step:
///
///   t < warm:  lr (t+1) / warm
///   else:      lr_min + (lr - lr_min)/2 (1 + cos(pi (t+1-warm)/(steps-warm)))
class Schedule {
 public:
  explicit Schedule(const spec::Settings& settings);

  /// `step` counts from 0.
  double LearningRate(int64_t step) const;

 private:
  int64_t steps_;
  int64_t warm_;
  double lr_;
  double lr_min_;
};

}  // namespace leadline::trainer
