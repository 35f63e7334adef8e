#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control_world.h"

namespace leadline::control {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

/// Four cells of one trial: failed, cancelled before it began, succeeded, and
/// one that runs.
void MakeOneOfEach(World& world) {
  NewSweep sweep = MakeSweep(4, 1, 1);
  sweep.sweep.parallel_limit = 3;
  world.Submit(std::move(sweep));
  world.Register(1, "n", 3);
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kConfig);
  world.Send(1, AttemptOf(1, 2, 1), {ResultOf(1, 0, 0, 1.0)});
  world.End(1, AttemptOf(1, 2, 1));
  world.Send(1, AttemptOf(1, 3, 1), {StepAt(1, 1)});
  world.Do(CancelTarget{Trial(1, 4, 0), "c1", {}});
}

TEST(RetryTest, NamesItsSetAndTouchesNothingElse) {
  World world;
  MakeOneOfEach(world);
  ASSERT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  const RetriedTarget failed = world.Retry({SweepId{1}}).targets.at(0);
  EXPECT_EQ(failed.queued, 1);
  EXPECT_EQ(failed.failed, 0);
  EXPECT_EQ(failed.cancelled, 1);
  EXPECT_EQ(failed.finished, 1);
  EXPECT_EQ(failed.unfinished, 1);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
  EXPECT_EQ(world.StateOf(Trial(1, 2, 0)), TrialState::kSucceeded);
  EXPECT_EQ(world.StateOf(Trial(1, 3, 0)), TrialState::kRunning);
  EXPECT_EQ(world.StateOf(Trial(1, 4, 0)), TrialState::kCancelled);
  for (const int64_t cell : {2, 3}) {
    EXPECT_THAT(*world.reader().ListAttempts({{{1}, cell}, 0}), SizeIs(1));
  }
  const RetriedTarget again = world.Retry({SweepId{1}}).targets.at(0);
  EXPECT_EQ(again.queued, 0);
  EXPECT_EQ(again.unfinished, 2);
}

TEST(RetryTest, CancelledAreRetriedWhenAskedForAlone) {
  World world;
  MakeOneOfEach(world);
  const RetriedTarget target =
      world.Retry({SweepId{1}}, false, true).targets.at(0);
  EXPECT_EQ(target.queued, 1);
  EXPECT_EQ(target.failed, 1);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  EXPECT_NE(world.StateOf(Trial(1, 4, 0)), TrialState::kCancelled);
}

TEST(RetryTest, ASweepThatEndedIsActiveAgainAndCompletesAgain) {
  World world;
  world.Submit(MakeSweep(1, 1, 1));
  world.Register(1, "n", 1);
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kConfig);
  ASSERT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
  world.Wait(Seconds{20});
  ASSERT_FALSE(world.control().Progress(SweepId{1}).has_value());
  EXPECT_EQ(world.Retry({Trial(1, 1, 0)}).targets.at(0).queued, 1);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kActive);
  world.Register(2, "n", 1);  // it was not heard for so long
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
  world.Send(2, AttemptOf(1, 1, 2), {ResultOf(1, 0, 0, 1.0)});
  world.End(2, AttemptOf(1, 1, 2));
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kSucceeded);
}

TEST(RetryTest, WhatACommandCancelledBeforeItBeganRunsToo) {
  World world;
  world.Submit(MakeSweep(2, 2, 2));
  world.Do(CancelTarget{SweepId{1}, "c1", {}});
  ASSERT_EQ(world.StateOf(SweepId{1}), SweepState::kCancelled);
  EXPECT_EQ(world.Retry({SweepId{1}}).targets.at(0).queued, 0);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kCancelled);
  EXPECT_EQ(world.Retry({CellId{{1}, 2}}, false, true).targets.at(0).queued, 2);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kActive);
  world.Register(1, "n", 2);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kCancelled);
  EXPECT_EQ(world.StateOf(Trial(1, 2, 0)), TrialState::kLeased);
}

TEST(RetryTest, TriesBeginAnewAndLastThroughARestart) {
  Policy policy;
  policy.tries = 1;
  World world(policy);
  world.Submit(MakeSweep(1, 1, 1));
  world.Register(1, "n", 1);
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kCrash);
  ASSERT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  world.Retry({SweepId{1}});
  world.Restart();
  EXPECT_EQ(world.store().LoadSweep({1})->cohorts.at(0).failures, 0);
  EXPECT_EQ(world.store().LoadSweep({1})->cohorts.at(0).attempts, 2);
}

TEST(RetryTest, AskingTwiceDoesItOnce) {
  World world;
  MakeOneOfEach(world);
  const RetryAnswer first = world.Retry({SweepId{1}}, true, true, "r");
  world.End(1, AttemptOf(1, 1, 2), FailureKind::kConfig);
  ASSERT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  const RetryAnswer second = world.Retry({SweepId{1}}, true, true, "r");
  EXPECT_EQ(second.targets.at(0).queued, first.targets.at(0).queued);
  EXPECT_EQ(second.targets.at(0).queued, 2);
  EXPECT_EQ(second.targets.at(0).finished, 1);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  for (const RetryTargets& other :
       {RetryTargets{{SweepId{1}}, true, false, "r", {}, {}},
        RetryTargets{{Trial(1, 1, 0)}, true, true, "r", {}, {}}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(world.Do(other).answer.status()));
  }
}

TEST(RetryTest, OneTargetThatIsNotThereChangesNothing) {
  World world;
  MakeOneOfEach(world);
  for (const Target& missing :
       {Target(SweepId{9}), Target(CellId{{1}, 9}), Target(Trial(1, 1, 9)),
        Target(Trial(1, -1, 0))}) {
    const Outcome outcome =
        world.Do(RetryTargets{{SweepId{1}, missing}, true, true, "r", {}, {}});
    EXPECT_TRUE(absl::IsNotFound(outcome.answer.status()));
    EXPECT_THAT(outcome.changes, SizeIs(0));
  }
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
}

TEST(RetryTest, ATrialNamedTwiceIsCountedOnce) {
  World world;
  MakeOneOfEach(world);
  const RetryAnswer answer = world.Retry({Trial(1, 1, 0), SweepId{1}});
  EXPECT_EQ(answer.targets.at(0).queued, 1);
  EXPECT_EQ(answer.targets.at(1).queued, 0);
  EXPECT_EQ(answer.targets.at(1).unfinished, 1);
}

TEST(RetryTest, WhatTheLiveAttemptDoesNotTrainWaitsForTheNext) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 2, 2));
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1, 2)});
  world.Do(CancelTarget{Trial(1, 1, 0), "c1", {}});
  EXPECT_EQ(world.Retry({Trial(1, 1, 0)}, false, true).targets.at(0).queued, 1);
  EXPECT_EQ(world.Explain(Trial(1, 1, 0)).trial->wait->reason,
            "attempt 1 of its cohort must end before");
  world.Send(1, AttemptOf(1, 1, 1),
             {ResultOf(2, 0, 0, 1.0), ResultOf(3, 1, 1, 2.0)});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 1)), TrialState::kSucceeded);
  world.End(1, AttemptOf(1, 1, 1));
  EXPECT_EQ(world.Attempt(AttemptOf(1, 1, 1)).outcome,
            AttemptOutcome::kSucceeded);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kActive);
}

TEST(RetryTest, WhatWasRetriedBesideALiveAttemptHasTriesOnceThatHasFailed) {
  Policy policy;
  policy.tries = 1;
  World world(policy);
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 2, 2));
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1, 2)});
  world.Do(CancelTarget{Trial(1, 1, 0), "c1", {}});
  world.Retry({Trial(1, 1, 0)}, false, true);
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kCrash);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 1)), TrialState::kFailed);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
  EXPECT_EQ(world.StandingOf(1, 1).failures, 0);
}

TEST(RetryTest, ALateOrderDoesNotHitTheSuccessor) {
  World world;
  world.Register(1, "n", 2);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1)});
  world.Do(CancelTarget{Trial(1, 1, 0), "c1", {}});
  world.Retry({Trial(1, 1, 0)}, false, true);
  world.Wait(Seconds{5});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  world.End(1, AttemptOf(1, 1, 1));  // the cancelled one has gone only now
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
  EXPECT_EQ(world.Attempt(AttemptOf(1, 1, 2)).outcome, AttemptOutcome::kLive);
}

/// An attempt on node "a" that was cancelled before the coordinator ended.
void CancelAndRestart(World& world) {
  world.Register(1, "a", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1)});
  world.Do(CancelTarget{Trial(1, 1, 0), "c1", {}});
  world.Restart();
  world.Register(2, "b", 1);
  world.Retry({Trial(1, 1, 0)}, false, true);
}

TEST(RetryTest, AfterARestartItWaitsForTheAgentOfTheCancelledOne) {
  World world;
  CancelAndRestart(world);
  world.Idle(Seconds{20});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  EXPECT_EQ(world.Explain(Trial(1, 1, 0)).trial->wait->reason,
            "the attempt before it may still run on node a, which has not "
            "registered yet");
  world.Register(3, "a", 1, {{AttemptOf(1, 1, 1), {"cpu:0"}}}, "i2");
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  EXPECT_THAT(world.DeferralOf(1, 1).reason, HasSubstr("still being ended"));
  world.End(3, AttemptOf(1, 1, 1));
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
}

TEST(RetryTest, AfterARestartAnAgentWithoutTheCancelledOneIsEnough) {
  World world;
  CancelAndRestart(world);
  world.Idle(Seconds{5});
  world.Register(3, "a", 1, {}, "i2");
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
}

TEST(RetryTest, AfterARestartAnAgentThatStaysAwayIsNotWaitedForForEver) {
  World world;
  CancelAndRestart(world);
  world.Idle(Seconds{44});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  world.Idle(Seconds{3});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
}

TEST(RetryTest, WhatANodeOutOfReachMayStillTrainIsNotTrainedTwice) {
  World world;
  world.Register(1, "a", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1)});
  world.Register(2, "b", 1);
  world.Do(NodeLost{{1}});
  world.Do(CancelTarget{Trial(1, 1, 0), "c1", {}});
  world.Retry({Trial(1, 1, 0)}, false, true);
  for (int i = 0; i < 44; ++i) {
    world.Do(Heartbeat{{2}, i, {}});
    world.Wait(Seconds{1});
    EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  }
  EXPECT_EQ(world.DeferralOf(1, 1).reason,
            "the attempt before it is still being ended on node a");
  world.Do(Heartbeat{{2}, 44, {}});
  world.Wait(Seconds{3});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
}

}  // namespace
}  // namespace leadline::control
