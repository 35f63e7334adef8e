#include "coordinator/control/failure_policy.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control_world.h"

namespace leadline::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kGiB = int64_t{1} << 30;
const CohortId kFirst{{{1}, 1}, 0};

std::vector<DeviceInfo> Gpus(int64_t count, int64_t bytes) {
  std::vector<DeviceInfo> devices;
  for (int64_t i = 0; i < count; ++i) {
    devices.push_back({"GPU-" + std::to_string(i), "H200", bytes});
  }
  return devices;
}

class EachKind : public testing::TestWithParam<FailureKind> {};

TEST_P(EachKind, IsFollowedByWhatItsRowSays) {
  const FailureKind kind = GetParam();
  const FailurePolicy& row = PolicyOf(kind);
  World world;
  world.RegisterWith(1, "a", Gpus(1, 2 * kGiB));
  world.RegisterWith(2, "b", Gpus(1, 4 * kGiB));
  world.Submit(MakeSweep(1, 1, 1));
  ASSERT_EQ(world.Attempt(AttemptOf(1, 1, 1)).node, "a");
  world.End(1, AttemptOf(1, 1, 1), kind);
  if (row.retry == RetryWhere::kNowhere) {
    EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
    return;
  }
  EXPECT_EQ(world.StandingOf(1, 1).failures,
            row.uses_try && row.blame != Blame::kAtOnce ? 1 : 0);
  EXPECT_EQ(world.StandingOf(1, 1).free_restarts, row.uses_try ? 0 : 1);
  EXPECT_EQ(world.NodeOf("a").quarantined, row.blame == Blame::kAtOnce);
  ASSERT_TRUE(
      world.IdleUntilLive(kFirst, row.first_backoff * 1.25 + Seconds{1}));
  // A node on which it has not failed is better whatever the kind.
  EXPECT_EQ(world.Attempt(AttemptOf(1, 1, 2)).node,
            kind == FailureKind::kAgentLost ? "a" : "b");
}

TEST_P(EachKind, NeverGoesOnForEver) {
  World world;
  world.RegisterWith(1, "a", Gpus(1, 2 * kGiB));
  world.Submit(MakeSweep(1, 1, 1));
  int64_t attempts = 0;
  for (int second = 0; second < 2 * 3600; ++second) {
    if (world.control().state().live.contains(kFirst)) {
      world.End(1, AttemptOf(1, 1, ++attempts), GetParam());
    }
    world.Idle(Seconds{1});
  }
  if (PolicyOf(GetParam()).uses_try) {
    // A device is first put down to its node.
    EXPECT_LE(attempts, 4);
    EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
    EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
  } else {
    EXPECT_GE(attempts, 30);
    EXPECT_LE(attempts, 61);
    EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
    EXPECT_THAT(world.DeferralOf(1, 1).reason, HasSubstr("tries again in"));
  }
}

TEST(RetriesTest, FreeRestartsBeyondTheHoursComeOneByOne) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  for (int64_t number = 1; number <= 21; ++number) {
    EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
    world.End(1, AttemptOf(1, 1, number), FailureKind::kAgentLost);
  }
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  EXPECT_THAT(world.DeferralOf(1, 1).reason,
              HasSubstr("started again 20 times within an hour"));
  EXPECT_TRUE(world.IdleUntilLive(kFirst, Seconds{180}));
}

INSTANTIATE_TEST_SUITE_P(All, EachKind, testing::ValuesIn(kFailureKinds),
                         [](const auto& info) {
                           return std::string(Name(info.param));
                         });

TEST(RetriesTest, RowBeginsAnewWhenAnAttemptGotFurther) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  int64_t number = 0;
  // 2 is further than nothing, 2 again is not, 5 is.
  for (const auto& [step, in_row] :
       std::vector<std::pair<int64_t, int64_t>>{{2, 1}, {2, 2}, {5, 1}}) {
    ASSERT_TRUE(world.IdleUntilLive(kFirst, Seconds{80}));
    world.Send(1, AttemptOf(1, 1, ++number), {StepAt(1, step)});
    world.End(1, AttemptOf(1, 1, number), FailureKind::kCrash);
    EXPECT_EQ(world.StandingOf(1, 1).failures_in_row, in_row);
    EXPECT_EQ(world.StandingOf(1, 1).failures, number);
    EXPECT_EQ(world.StandingOf(1, 1).furthest_step, step);
  }
  for (const int64_t step : {5, 0}) {
    ASSERT_TRUE(world.IdleUntilLive(kFirst, Seconds{80}));
    world.Send(1, AttemptOf(1, 1, ++number), {StepAt(1, step)});
    world.End(1, AttemptOf(1, 1, number), FailureKind::kCrash);
  }
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  EXPECT_THAT(world.ReasonOf(Trial(1, 1, 0)),
              HasSubstr("failure 3 of 3 in a row, 5 of 8 in total"));
}

TEST(RetriesTest, TotalEndsWhatGetsFurtherEachTime) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  for (int64_t number = 1; number <= 8; ++number) {
    ASSERT_TRUE(world.IdleUntilLive(kFirst, Seconds{80})) << number;
    world.Send(1, AttemptOf(1, 1, number), {StepAt(1, number)});
    world.End(1, AttemptOf(1, 1, number), FailureKind::kCrash);
  }
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  EXPECT_THAT(world.ReasonOf(Trial(1, 1, 0)), HasSubstr("8 of 8 in total"));
}

TEST(RetriesTest, StepBeyondThePlanIsNotBelieved) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, int64_t{1} << 60)});
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kCrash);
  EXPECT_EQ(world.StandingOf(1, 1).furthest_step, 10);
}

TEST(RetriesTest, CountsStepsAndWaitsSurviveARestart) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 4)});
  world.Restart();
  world.Register(2, "n", 1, {{AttemptOf(1, 1, 1), {"cpu:0"}}});
  world.End(2, AttemptOf(1, 1, 1), FailureKind::kCrash);
  const Cohort before = world.CohortOf(1, 1);
  EXPECT_EQ(before.record.furthest_step, 4);
  const Seconds wait = *before.retry_at - world.now().steady;
  world.Restart();
  const Cohort& after = world.CohortOf(1, 1);
  EXPECT_EQ(after.record, before.record);
  EXPECT_EQ(after.retry_reason, before.retry_reason);
  ASSERT_TRUE(after.retry_at.has_value());
  EXPECT_EQ(Seconds(*after.retry_at - world.now().steady), wait);
}

TEST(RetriesTest, FreeRestartsAreForgottenWithTime) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  for (int64_t number = 1; number <= 10; ++number) {
    world.End(1, AttemptOf(1, 1, number), FailureKind::kAgentLost);
  }
  EXPECT_EQ(world.StandingOf(1, 1).free_restarts, 10);
  world.Idle(Seconds{900});
  world.End(1, AttemptOf(1, 1, 11), FailureKind::kAgentLost);
  EXPECT_EQ(world.StandingOf(1, 1).free_restarts, 6);
}

TEST(MemoryTest, RetryGoesToANodeWithMoreAndToNoOther) {
  World world;
  world.RegisterWith(1, "a", Gpus(2, 2 * kGiB));
  world.RegisterWith(2, "b", Gpus(1, 4 * kGiB));
  world.Submit(MakeSweep(1, 1, 1, "x"), "r1");
  world.Submit(MakeSweep(1, 1, 1, "y"), "r2");
  ASSERT_EQ(world.Attempt(AttemptOf(1, 1, 1)).node, "b") << "the tightest";
  ASSERT_EQ(world.Attempt(AttemptOf(2, 1, 1)).node, "a");
  world.End(1, AttemptOf(2, 1, 1), FailureKind::kOom);
  EXPECT_EQ(world.StandingOf(2, 1).memory_tried, 2 * kGiB);
  world.Idle(Seconds{5});
  EXPECT_EQ(world.StateOf(Trial(2, 1, 0)), TrialState::kQueued);
  EXPECT_EQ(world.DeferralOf(2, 1).reason,
            "waits for 1 device on one node with more memory than the 2.00 GiB "
            "it ran out of");
  EXPECT_FALSE(world.DeferralOf(2, 1).infeasible);
  world.Send(2, AttemptOf(1, 1, 1), {ResultOf(1, 0, 0, 1.0)});
  world.End(2, AttemptOf(1, 1, 1));
  EXPECT_EQ(world.Attempt(AttemptOf(2, 1, 2)).node, "b");
  world.End(2, AttemptOf(2, 1, 2), FailureKind::kOom);
  EXPECT_EQ(world.StateOf(Trial(2, 1, 0)), TrialState::kFailed);
  EXPECT_THAT(world.ReasonOf(Trial(2, 1, 0)),
              HasSubstr("it ran out of 4.00 GiB, and no node has more"));
}

TEST(MemoryTest, WithoutMoreAnywhereItFailsAtOnce) {
  World world;
  world.RegisterWith(1, "a", Gpus(1, 2 * kGiB));
  world.RegisterWith(2, "b", Gpus(1, 2 * kGiB));
  world.Submit(MakeSweep(1, 1, 1));
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kOom);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
}

TEST(MemoryTest, NodeThatDoesNotSayIsNoBetter) {
  World world;
  world.Register(1, "a", 1);
  world.RegisterWith(2, "b", {{"cpu:0", "cpu", 4 * kGiB}});
  world.Submit(MakeSweep(1, 1, 1));
  ASSERT_EQ(world.Attempt(AttemptOf(1, 1, 1)).node, "a");
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kOom);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  EXPECT_THAT(world.ReasonOf(Trial(1, 1, 0)), HasSubstr("does not say"));
}

TEST(MemoryTest, AfterARestartOneWaitsForNodesThatMayComeBack) {
  World world;
  world.RegisterWith(1, "a", Gpus(1, 2 * kGiB));
  world.RegisterWith(2, "b", Gpus(1, 4 * kGiB));
  world.Submit(MakeSweep(1, 1, 1));
  world.Restart();
  const std::vector<HeldAttempt> held = {{AttemptOf(1, 1, 1), {"GPU-0"}}};
  world.RegisterWith(3, "a", Gpus(1, 2 * kGiB), held);
  world.End(3, AttemptOf(1, 1, 1), FailureKind::kOom);
  world.Idle(Seconds{4});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  EXPECT_THAT(world.DeferralOf(1, 1).reason,
              HasSubstr("no node with 1 device"));
  EXPECT_TRUE(world.DeferralOf(1, 1).infeasible);
  world.RegisterWith(4, "b", Gpus(1, 4 * kGiB));
  EXPECT_EQ(world.Attempt(AttemptOf(1, 1, 2)).node, "b");
}

/// Two graphics cards, the better of which does not come back after a restart;
/// the cohort has run out of the memory of the other.
void LoseTheBetterNode(World& world) {
  world.RegisterWith(1, "a", Gpus(1, 2 * kGiB));
  world.RegisterWith(2, "b", Gpus(1, 4 * kGiB));
  world.Submit(MakeSweep(1, 1, 1));
  world.Restart();
  world.RegisterWith(3, "a", Gpus(1, 2 * kGiB),
                     {{AttemptOf(1, 1, 1), {"GPU-0"}}});
  world.End(3, AttemptOf(1, 1, 1), FailureKind::kOom);
}

TEST(MemoryTest, WhatWaitedForNodesInVainFails) {
  World world;
  LoseTheBetterNode(world);
  world.Idle(Seconds{44});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  world.Idle(Seconds{3});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  EXPECT_EQ(world.ReasonOf(Trial(1, 1, 0)),
            "oom: ; it ran out of 2.00 GiB, and no node has more");
  EXPECT_EQ(world.reader().GetTrial(Trial(1, 1, 0))->failed_kind,
            FailureKind::kOom);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
}

TEST(MemoryTest, AnotherRestartBeginsTheWaitForNodesAnew) {
  World world;
  LoseTheBetterNode(world);
  world.Idle(Seconds{30});
  world.Restart();
  world.Wait(Seconds{300});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued)
      << "while no agent is there nobody knows";
  world.RegisterWith(4, "a", Gpus(1, 2 * kGiB));
  world.Idle(Seconds{44});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  world.Idle(Seconds{3});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  EXPECT_THAT(world.ReasonOf(Trial(1, 1, 0)), HasSubstr("oom: "));
}

TEST(MemoryTest, ALimitOfFailuresCountsWhatWaitedInVain) {
  World world;
  world.RegisterWith(1, "a", Gpus(1, 2 * kGiB));
  world.RegisterWith(2, "b", Gpus(1, 4 * kGiB));
  NewSweep sweep = MakeSweep(3, 1, 1);
  sweep.sweep.failure_limit = 1;
  sweep.sweep.parallel_limit = 1;
  world.Submit(std::move(sweep));
  ASSERT_EQ(world.Attempt(AttemptOf(1, 1, 1)).node, "a");
  world.Do(NodeLost{{2}});
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kOom);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  world.Idle(Seconds{47});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  EXPECT_EQ(world.StateOf(Trial(1, 3, 0)), TrialState::kCancelled);
}

TEST(MemoryTest, ACoordinatorThatWasStoppedGivesAgentsTimeToComeBack) {
  World world;
  world.RegisterWith(1, "a", Gpus(1, 2 * kGiB));
  world.RegisterWith(2, "b", Gpus(1, 4 * kGiB));
  world.Submit(MakeSweep(2, 1, 1));
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kOom);
  world.Idle(Seconds{60});
  ASSERT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued) << "b is taken";
  world.Pass(Seconds{64});
  world.Do(Heartbeat{{1}, 1, {}});
  world.Do(Tick{});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  world.Idle(Seconds{44});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  world.Idle(Seconds{3});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
}

TEST(MemoryTest, WhatIsPausedIsNotGivenUp) {
  World world;
  LoseTheBetterNode(world);
  world.Pause(SweepId{1});
  world.Idle(Seconds{100});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
}

TEST(MemoryTest, OfNodesOfTwoKindsOnlyThatOfTheSweepCounts) {
  World world;
  world.RegisterWith(1, "gpu", Gpus(1, 2 * kGiB));
  world.RegisterWith(2, "cpu", {{"cpu:0", "cpu", 64 * kGiB}});
  world.Submit(MakeSweep(1, 1, 1));
  ASSERT_EQ(world.Attempt(AttemptOf(1, 1, 1)).node, "gpu");
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kOom);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
}

TEST(DataTest, WhatWaitedForAnotherNodeInVainFails) {
  World world;
  world.Register(1, "a", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Restart();
  world.Register(2, "a", 1, {{AttemptOf(1, 1, 1), {"cpu:0"}}});
  world.End(2, AttemptOf(1, 1, 1), FailureKind::kData);
  world.Idle(Seconds{30});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  world.Idle(Seconds{17});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  EXPECT_EQ(world.ReasonOf(Trial(1, 1, 0)),
            "data: ; there is no other node to try it on");
}

TEST(TimeTest, WhatWaitsForADeviceIsNotPlannedAgainWithEachTick) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(2, 1, 1));
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kCrash);
  world.Idle(Seconds{10});
  ASSERT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  ASSERT_TRUE(world.control().state().live.contains({{{1}, 2}, 0}));
  int planned = 0;
  for (int tick = 0; tick < 20; ++tick) {
    world.Do(Heartbeat{{1}, tick, {AttemptOf(1, 2, 1)}});
    world.Pass(Seconds{0.25});
    world.Do(Tick{});
    planned += world.control().state().planned_at == world.now().steady ? 1 : 0;
  }
  EXPECT_EQ(planned, 0);
}

TEST(DataTest, IsTriedOnOtherNodesAndFailsWhereThereIsNone) {
  World world;
  world.Register(1, "a", 1);
  world.Register(2, "b", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kData);
  EXPECT_EQ(world.Attempt(AttemptOf(1, 1, 2)).node, "b");
  world.End(2, AttemptOf(1, 1, 2), FailureKind::kData);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  EXPECT_THAT(world.ReasonOf(Trial(1, 1, 0)), HasSubstr("no other node"));
}

TEST(StoppingTest, OneThatComesBackLateIsWaitedForAnew) {
  World world;
  world.Register(1, "a", 2);
  world.Submit(MakeSweep(1, 1, 1));
  world.Do(NodeLost{{1}});
  world.Wait(Seconds{100});
  ASSERT_EQ(world.Attempt(AttemptOf(1, 1, 1)).outcome,
            AttemptOutcome::kSuperseded);
  world.Register(2, "a", 2, {{AttemptOf(1, 1, 1), {"cpu:0"}}});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued)
      << "its agent was told only now";
  world.End(2, AttemptOf(1, 1, 1), FailureKind::kAgentLost);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
}

TEST(StoppingTest, NextAttemptWaitsUntilTheOneBeforeIsGone) {
  World world;
  world.Register(1, "a", 2);
  world.Submit(MakeSweep(1, 1, 1));
  // Its lease runs out though its node is heard.
  for (int i = 0; i < 47; ++i) {
    world.Do(Heartbeat{{1}, i, {}});
    world.Wait(Seconds{1});
  }
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  EXPECT_EQ(world.DeferralOf(1, 1).reason,
            "the attempt before it is still being ended on node a");
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kAgentLost);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
}

}  // namespace
}  // namespace leadline::control
