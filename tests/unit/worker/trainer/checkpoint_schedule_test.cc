#include "worker/trainer/checkpoint_schedule.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/cell_settings.h"

namespace leadline::trainer {
namespace {

using Time = CheckpointSchedule::Time;
using std::chrono::minutes;

CheckpointSchedule Every(const spec::Value& every) {
  return {testing::CellSettings("prenorm", {{"steps", int64_t{100}},
                                            {"checkpoint_every", every}}),
          Time()};
}

std::vector<int64_t> StepsDue(const CheckpointSchedule& schedule) {
  std::vector<int64_t> due;
  for (int64_t step = 1; step <= 100; ++step) {
    if (schedule.IsDue(step, Time())) due.push_back(step);
  }
  return due;
}

TEST(CheckpointScheduleTest, ANumberIsStepsApartAndTheLastOne) {
  const CheckpointSchedule schedule = Every(int64_t{40});
  EXPECT_EQ(StepsDue(schedule), (std::vector<int64_t>{40, 80, 100}));
  EXPECT_TRUE(schedule.WantedAtStop());
  EXPECT_FALSE(schedule.GoWithTheEnd());
}

TEST(CheckpointScheduleTest, EndIsTheLastStepAlone) {
  const CheckpointSchedule schedule = Every(std::string("end"));
  EXPECT_EQ(StepsDue(schedule), std::vector<int64_t>{100});
  EXPECT_FALSE(schedule.WantedAtStop());
}

TEST(CheckpointScheduleTest, OffIsNone) {
  const CheckpointSchedule schedule = Every(std::string("off"));
  EXPECT_FALSE(schedule.Wanted());
  EXPECT_TRUE(StepsDue(schedule).empty());
  EXPECT_FALSE(schedule.WantedAtStop());
}

TEST(CheckpointScheduleTest, AutoIsTenMinutesAfterTheLastOrTheStart) {
  CheckpointSchedule schedule = Every(std::string("auto"));
  EXPECT_TRUE(StepsDue(schedule).empty());
  EXPECT_FALSE(schedule.IsDue(5, Time() + minutes(9)));
  EXPECT_TRUE(schedule.IsDue(5, Time() + minutes(10)));
  schedule.Written(Time() + minutes(10));
  EXPECT_FALSE(schedule.IsDue(6, Time() + minutes(19)));
  EXPECT_TRUE(schedule.IsDue(6, Time() + minutes(20)));
  EXPECT_TRUE(schedule.WantedAtStop());
  EXPECT_TRUE(schedule.GoWithTheEnd());
}

}  // namespace
}  // namespace leadline::trainer
