#include "coordinator/control/failure_limits.h"

#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control_world.h"

namespace leadline::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

struct Limits {
  std::optional<int64_t> failures{};
  std::optional<int64_t> in_row{};
  OnFailures on = OnFailures::kStop;
};

void Submit(World& world, int64_t cells, const Limits& limits,
            int64_t seeds = 1) {
  NewSweep sweep = MakeSweep(cells, seeds, seeds);
  sweep.sweep.failure_limit = limits.failures;
  sweep.sweep.failure_row_limit = limits.in_row;
  sweep.sweep.on_failures = limits.on;
  world.Submit(std::move(sweep));
}

void Fail(World& world, int64_t cell) {
  world.Do(
      AttemptRefused{{1}, AttemptOf(1, cell, 1), FailureKind::kConfig, "no"});
}

void Succeed(World& world, int64_t cell) {
  world.Send(1, AttemptOf(1, cell, 1), {ResultOf(1, 0, 0, 1.0)});
  world.End(1, AttemptOf(1, cell, 1));
}

TEST(FailureLimitsTest, TotalCountsFailedTrialsWhateverIsInBetween) {
  World world;
  world.Register(1, "n", 1);
  Submit(world, 8, {.failures = 3});
  Fail(world, 1);
  Succeed(world, 2);
  Fail(world, 3);
  Succeed(world, 4);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kActive);
  Fail(world, 5);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
  EXPECT_EQ(world.ReasonOf(Trial(1, 6, 0)),
            "never began: limits.failures is 3 and 3 trials have failed");
}

TEST(FailureLimitsTest, RowEndsWithEveryResult) {
  World world;
  world.Register(1, "n", 1);
  Submit(world, 9, {.in_row = 2});
  Fail(world, 1);
  Succeed(world, 2);
  Fail(world, 3);
  world.Send(1, AttemptOf(1, 4, 1), {DivergenceOf(1, 0, 0)});
  world.End(1, AttemptOf(1, 4, 1));
  Fail(world, 5);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kActive);
  Fail(world, 6);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
  EXPECT_THAT(world.ReasonOf(Trial(1, 7, 0)),
              HasSubstr("limits.failures_in_row is 2 and 2 trials in a row"));
}

TEST(FailureLimitsTest, RowIsKeptThroughARestart) {
  World world;
  world.Register(1, "n", 1);
  Submit(world, 5, {.in_row = 2});
  Fail(world, 1);
  world.Restart();
  world.Register(1, "n", 1, {{AttemptOf(1, 2, 1), {"cpu:0"}}});
  Fail(world, 2);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
}

TEST(FailureLimitsTest, FailureThatIsTriedAgainDoesNotCount) {
  World world;
  world.Register(1, "n", 1);
  Submit(world, 4, {.failures = 1});
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kCrash);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kActive);
  EXPECT_EQ(world.StateOf(Trial(1, 2, 0)), TrialState::kLeased);
}

TEST(FailureLimitsTest, AllTrialsOfACohortCount) {
  World world;
  world.Register(1, "n", 1);
  Submit(world, 3, {.failures = 3}, 3);
  Fail(world, 1);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
}

TEST(FailureLimitsTest, StopEndsWhatRunsAndFreesTheDevices) {
  World world;
  world.Register(1, "n", 2);
  Submit(world, 4, {.failures = 1});
  world.Send(1, AttemptOf(1, 2, 1), {StepAt(1, 7)});
  const Outcome outcome = world.Do(
      AttemptRefused{{1}, AttemptOf(1, 1, 1), FailureKind::kConfig, "no"});
  const auto stops = Orders<StopOrder>(outcome);
  ASSERT_THAT(stops, SizeIs(1));
  EXPECT_EQ(stops[0].attempt, AttemptOf(1, 2, 1));
  EXPECT_THAT(world.ReasonOf(Trial(1, 2, 0)),
              StartsWith("stopped at step 7: "));
  EXPECT_THAT(world.ReasonOf(Trial(1, 3, 0)), StartsWith("never began: "));
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  world.End(1, AttemptOf(1, 2, 1));
  EXPECT_THAT(world.control().state().nodes.at("n").held, IsEmpty());
}

TEST(FailureLimitsTest, FinishLetsWhatRunsEndAndStartsNothing) {
  World world;
  world.Register(1, "n", 2);
  Submit(world, 4, {.failures = 1, .on = OnFailures::kFinish});
  const Outcome outcome = world.Do(
      AttemptRefused{{1}, AttemptOf(1, 1, 1), FailureKind::kConfig, "no"});
  EXPECT_THAT(Orders<StopOrder>(outcome), IsEmpty());
  EXPECT_THAT(Orders<StartOrder>(outcome), IsEmpty());
  EXPECT_EQ(world.StateOf(Trial(1, 3, 0)), TrialState::kCancelled);
  EXPECT_THAT(world.ReasonOf(Trial(1, 3, 0)), StartsWith("never began: "));
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kActive);
  world.Restart();
  world.Register(2, "n", 2, {{AttemptOf(1, 2, 1), {"cpu:0"}}});
  world.Send(2, AttemptOf(1, 2, 1), {ResultOf(1, 0, 0, 1.0)});
  world.End(2, AttemptOf(1, 2, 1));
  EXPECT_EQ(world.StateOf(Trial(1, 2, 0)), TrialState::kSucceeded);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
}

TEST(FailureLimitsTest, WhatFinishesIsNotTriedAgain) {
  World world;
  world.Register(1, "n", 3);
  Submit(world, 5, {.failures = 1, .on = OnFailures::kFinish});
  Fail(world, 1);
  world.End(1, AttemptOf(1, 2, 1), FailureKind::kCrash);
  EXPECT_EQ(world.StateOf(Trial(1, 2, 0)), TrialState::kFailed);
  EXPECT_THAT(world.ReasonOf(Trial(1, 2, 0)), HasSubstr("not started again"));
  world.End(1, AttemptOf(1, 3, 1), FailureKind::kAgentLost);
  EXPECT_EQ(world.StateOf(Trial(1, 3, 0)), TrialState::kCancelled);
  EXPECT_THAT(world.ReasonOf(Trial(1, 3, 0)), HasSubstr("not started again"));
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
}

TEST(FailureLimitsTest, WhatWasStoppedRunsOnceItIsQueuedAgain) {
  World world;
  world.Register(1, "n", 1);
  Submit(world, 3, {.failures = 1, .in_row = 1});
  Fail(world, 1);
  const std::vector<storage::Change> retry = {
      storage::MoveSweep{{1}, SweepState::kComplete, SweepState::kActive},
      storage::MoveTrial{Trial(1, 1, 0), TrialState::kFailed,
                         TrialState::kQueued, "retried"},
      storage::MoveTrial{Trial(1, 2, 0), TrialState::kCancelled,
                         TrialState::kQueued, "retried"}};
  ASSERT_TRUE(world.store().Commit(retry).ok());
  world.Restart();
  world.Register(2, "n", 2);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
  EXPECT_EQ(world.StateOf(Trial(1, 2, 0)), TrialState::kLeased);
  EXPECT_EQ(world.StateOf(Trial(1, 3, 0)), TrialState::kCancelled);
}

}  // namespace
}  // namespace leadline::control
