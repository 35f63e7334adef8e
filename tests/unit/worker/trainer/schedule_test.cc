#include "worker/trainer/schedule.h"

#include <cmath>

#include <gtest/gtest.h>

namespace leadline::trainer {
namespace {

Schedule Make(int64_t steps) {
  return Schedule(spec::Resolve({{"method", spec::Value("prenorm")},
                                 {"steps", spec::Value(steps)},
                                 {"lr", spec::Value(1e-2)},
                                 {"lr_min", spec::Value(1e-3)}})
                      .settings);
}

TEST(ScheduleTest, RisesOverTheWarmUpAndEndsAtTheLeastRate) {
  const Schedule schedule = Make(300);  // six steps of warm-up
  EXPECT_DOUBLE_EQ(schedule.LearningRate(0), 1e-2 / 6);
  EXPECT_DOUBLE_EQ(schedule.LearningRate(5), 1e-2);
  EXPECT_LT(schedule.LearningRate(6), 1e-2);
  EXPECT_NEAR(schedule.LearningRate(299), 1e-3, 1e-18);
}

TEST(ScheduleTest, FollowsTheCosine) {
  const double middle = 1e-3 + 9e-3 / 2 * (1 + std::cos(M_PI * 147 / 294.0));
  EXPECT_DOUBLE_EQ(Make(300).LearningRate(152), middle);
}

TEST(ScheduleTest, OneStepHasTheFullRate) {
  EXPECT_DOUBLE_EQ(Make(1).LearningRate(0), 1e-2);
}

}  // namespace
}  // namespace leadline::trainer
