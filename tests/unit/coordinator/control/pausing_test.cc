#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control_world.h"

namespace leadline::control {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr SweepId kSweep{1};

/// Three cells of one trial on two slots: two train.
void BeginTwo(World& world) {
  world.Register(1, "n", 2);
  world.Submit(MakeSweep(3, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1)});
  world.Send(1, AttemptOf(1, 2, 1), {StepAt(1, 1)});
}

TEST(PausingTest, APausedSweepPlacesNothingAndWhatRunsEnds) {
  World world;
  BeginTwo(world);
  const PauseAnswer answer = world.Pause(kSweep);
  EXPECT_TRUE(answer.changed);
  EXPECT_EQ(answer.stopping, 0);
  EXPECT_EQ(answer.running, 2);
  EXPECT_EQ(answer.waiting, 1);
  EXPECT_THAT(Orders<StopOrder>(world.last()), SizeIs(0));
  world.Send(1, AttemptOf(1, 1, 1), {ResultOf(2, 0, 0, 1.0)});
  world.End(1, AttemptOf(1, 1, 1));
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kSucceeded);
  world.Wait(Seconds{5});
  EXPECT_EQ(world.StateOf(Trial(1, 3, 0)), TrialState::kQueued);
  EXPECT_FALSE(world.Pause(kSweep).changed);

  const ResumeAnswer resumed = world.Resume(kSweep);
  EXPECT_TRUE(resumed.changed);
  EXPECT_EQ(resumed.queued, 0);
  EXPECT_EQ(resumed.waiting, 1);
  EXPECT_EQ(world.StateOf(Trial(1, 3, 0)), TrialState::kLeased);
  EXPECT_FALSE(world.Resume(kSweep).changed);
}

TEST(PausingTest, AStoppedAttemptEndsInTwoPhasesAndIsNoFailure) {
  World world;
  BeginTwo(world);
  const PauseAnswer answer = world.Pause(kSweep, true);
  EXPECT_EQ(answer.stopping, 2);
  EXPECT_EQ(answer.running, 0);
  EXPECT_THAT(Orders<StopOrder>(world.last()), SizeIs(2));
  // Asked to stop: it counts still, and what it says on the way is kept.
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kRunning);
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(2, 2)});
  EXPECT_THAT(world.orphans(), SizeIs(0));
  // Stopped.
  world.End(1, AttemptOf(1, 1, 1));
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kSuspended);
  EXPECT_EQ(world.ReasonOf(Trial(1, 1, 0)), "paused by command");
  const auto attempt = world.Attempt(AttemptOf(1, 1, 1));
  EXPECT_EQ(attempt.outcome, AttemptOutcome::kPreempted);
  EXPECT_EQ(attempt.kind, std::nullopt);
  EXPECT_EQ(world.store().LoadSweep(kSweep)->cohorts.at(0).failures, 0);

  const ResumeAnswer resumed = world.Resume(kSweep);
  EXPECT_EQ(resumed.queued, 1);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
  // The other is still being stopped: only once it has gone it is placed.
  EXPECT_EQ(world.StateOf(Trial(1, 2, 0)), TrialState::kRunning);
  world.End(1, AttemptOf(1, 2, 1));
  EXPECT_EQ(world.Attempt(AttemptOf(1, 2, 1)).outcome,
            AttemptOutcome::kPreempted);
  EXPECT_EQ(world.StateOf(Trial(1, 2, 0)), TrialState::kLeased);
}

TEST(PausingTest, ATrainerThatFinishesOnTheWayHasSucceeded) {
  World world;
  BeginTwo(world);
  world.Pause(kSweep, true);
  world.Send(1, AttemptOf(1, 1, 1), {ResultOf(2, 0, 0, 1.0)});
  world.End(1, AttemptOf(1, 1, 1));
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kSucceeded);
  EXPECT_EQ(world.Attempt(AttemptOf(1, 1, 1)).outcome,
            AttemptOutcome::kSucceeded);
}

TEST(PausingTest, HowATrainerDiesWhenToldIsNeverAFailure) {
  for (const FailureKind kind : kFailureKinds) {
    World world;
    BeginTwo(world);
    world.Pause(kSweep, true);
    world.End(1, AttemptOf(1, 1, 1), kind);
    EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kSuspended)
        << Name(kind);
    world.Do(AttemptRefused{{1}, AttemptOf(1, 2, 1), kind, ""});
    EXPECT_EQ(world.StateOf(Trial(1, 2, 0)), TrialState::kSuspended)
        << Name(kind);
  }
}

TEST(PausingTest, OneThatHasNotBegunGoesBackToTheQueue) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  ASSERT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
  EXPECT_EQ(world.Pause(kSweep, true).stopping, 1);
  world.End(1, AttemptOf(1, 1, 1));
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  world.Resume(kSweep);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
}

TEST(PausingTest, StoppingMayFollowOnAPause) {
  World world;
  BeginTwo(world);
  world.Pause(kSweep);
  const PauseAnswer answer = world.Pause(kSweep, true);
  EXPECT_FALSE(answer.changed);
  EXPECT_EQ(answer.stopping, 2);
  const PauseAnswer again = world.Pause(kSweep, true);
  EXPECT_EQ(again.stopping, 0);
  EXPECT_EQ(again.running, 0);
}

TEST(PausingTest, TheOrderToStopOutlivesCoordinatorAndStream) {
  World world;
  BeginTwo(world);
  world.Pause(kSweep, true);
  world.Restart();
  const AttemptKey first = AttemptOf(1, 1, 1);
  const AttemptKey second = AttemptOf(1, 2, 1);
  const Outcome back =
      world.Register(2, "n", 2, {{first, {"cpu:0"}}, {second, {"cpu:1"}}});
  EXPECT_THAT(Orders<StopOrder>(back), SizeIs(2));
  // And again with each heartbeat, until it has gone.
  const Outcome beat = world.Do(Heartbeat{{2}, 1, {first}});
  ASSERT_THAT(Orders<StopOrder>(beat), SizeIs(1));
  EXPECT_EQ(Orders<StopOrder>(beat)[0].attempt, first);
  EXPECT_EQ(Orders<StopOrder>(beat)[0].reason, "paused by command");
  world.End(2, first);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kSuspended);
}

TEST(PausingTest, ANodeThatIsLostWhileItStopsHoldsNothingBack) {
  World world;
  BeginTwo(world);
  world.Pause(kSweep, true);
  world.Do(NodeLost{{1}});
  world.Wait(Seconds{60});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  EXPECT_EQ(world.StateOf(kSweep), SweepState::kPaused);
  world.Resume(kSweep);
  world.Register(2, "m", 3);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
}

TEST(PausingTest, APausedSweepWithoutAnythingLeftIsComplete) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Pause(kSweep);
  world.Send(1, AttemptOf(1, 1, 1), {ResultOf(1, 0, 0, 1.0)});
  world.End(1, AttemptOf(1, 1, 1));
  EXPECT_EQ(world.StateOf(kSweep), SweepState::kComplete);
  EXPECT_FALSE(world.Resume(kSweep).changed);
  EXPECT_FALSE(world.Pause(kSweep, true).changed);
}

TEST(PausingTest, APausedSweepCanBeCancelled) {
  World world;
  BeginTwo(world);
  world.Pause(kSweep, true);
  world.End(1, AttemptOf(1, 1, 1));
  const Outcome outcome = world.Do(CancelTarget{kSweep, "c1", {}});
  EXPECT_EQ(std::get<CancelAnswer>(*outcome.answer).cancelled, 3);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kCancelled);
}

TEST(PausingTest, AskingTwiceDoesItOnce) {
  World world;
  BeginTwo(world);
  EXPECT_EQ(world.Pause(kSweep, true, "p").stopping, 2);
  EXPECT_EQ(world.Resume(kSweep, "r").waiting, 1);
  EXPECT_EQ(world.Pause(kSweep, true, "p").stopping, 2);
  EXPECT_EQ(world.StateOf(kSweep), SweepState::kActive);
  EXPECT_TRUE(absl::IsInvalidArgument(
      world.Do(PauseSweep{kSweep, false, "p", {}}).answer.status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      world.Do(ResumeSweep{kSweep, "p", {}}).answer.status()));
  EXPECT_TRUE(absl::IsNotFound(
      world.Do(PauseSweep{SweepId{9}, false, "x", {}}).answer.status()));
  EXPECT_TRUE(absl::IsNotFound(
      world.Do(ResumeSweep{SweepId{9}, "x", {}}).answer.status()));
}

TEST(PausingTest, ProgressSaysThatItIsPaused) {
  World world;
  world.Submit(MakeSweep(1, 1, 1));
  world.Pause(kSweep);
  const auto report = *world.control().Progress(kSweep);
  EXPECT_THAT(report.waiting_for, HasSubstr("leadline resume s1"));
  EXPECT_FALSE(report.can_run);
}

}  // namespace
}  // namespace leadline::control
