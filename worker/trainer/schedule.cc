#include "worker/trainer/schedule.h"

#include <cmath>
#include <numbers>

namespace leadline::trainer {
namespace {

// 0.02 of 300 is 6 steps, though the product of the doubles is above it.
int64_t WarmSteps(double share, int64_t steps) {
  return static_cast<int64_t>(
      std::ceil(share * static_cast<double>(steps) - 1e-9));
}

}  // namespace

Schedule::Schedule(const spec::Settings& settings)
    : steps_(settings.Integer("steps")),
      warm_(WarmSteps(settings.Number("warmup"), steps_)),
      lr_(settings.Number("lr")),
      lr_min_(settings.Number("lr_min")) {}

double Schedule::LearningRate(int64_t step) const {
  const auto done = static_cast<double>(step + 1);
  const auto warm = static_cast<double>(warm_);
  if (step < warm_) return lr_ * done / warm;
  const double share = (done - warm) / (static_cast<double>(steps_) - warm);
  return lr_min_ +
         (lr_ - lr_min_) / 2 * (1 + std::cos(std::numbers::pi * share));
}

}  // namespace leadline::trainer
