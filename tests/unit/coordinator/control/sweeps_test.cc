#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control_world.h"

namespace leadline::control {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(SweepsTest, AskingTwiceSubmitsOnceAndAnswersTheSame) {
  World world;
  const SubmitSweep command{MakeSweep(2, 2, 2), 0, "r1", true, {}, {}};
  const auto first = std::get<SubmitAnswer>(*world.Do(command).answer);
  const auto second = std::get<SubmitAnswer>(*world.Do(command).answer);
  EXPECT_EQ(first.sweep, second.sweep);
  EXPECT_EQ(first.existing, second.existing);
  EXPECT_EQ(*world.reader().CountSweeps(), 1);
}

TEST(SweepsTest, EqualSweepIsAnsweredUnlessANewOneIsWanted) {
  World world;
  world.Submit(MakeSweep(1, 1, 1), "r1");
  EXPECT_EQ(world.Submit(MakeSweep(1, 1, 1), "r2"), SweepId{1});
  const Outcome outcome =
      world.Do(SubmitSweep{MakeSweep(1, 1, 1), 0, "r3", true, {}, {}});
  EXPECT_EQ(std::get<SubmitAnswer>(*outcome.answer).sweep, SweepId{2});
}

TEST(SweepsTest, RequestIdOfAnotherRequestIsRefused) {
  World world;
  world.Submit(MakeSweep(1, 1, 1, "a"), "r1");
  const Outcome other =
      world.Do(SubmitSweep{MakeSweep(1, 1, 1, "b"), 0, "r1", false, {}, {}});
  EXPECT_TRUE(absl::IsInvalidArgument(other.answer.status()));
  const Outcome cancel = world.Do(CancelTarget{SweepId{1}, "r1", {}});
  EXPECT_TRUE(absl::IsInvalidArgument(cancel.answer.status()));
}

TEST(SweepsTest, CancelSaysHowManyAndAgainTheSame) {
  World world;
  world.Submit(MakeSweep(2, 2, 2));
  const auto count = [&](const std::string& id) {
    const Outcome outcome = world.Do(CancelTarget{SweepId{1}, id, {}});
    return std::get<CancelAnswer>(*outcome.answer).cancelled;
  };
  EXPECT_EQ(count("c1"), 4);
  EXPECT_EQ(count("c1"), 4);
  EXPECT_EQ(count("c2"), 0);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kCancelled);
}

TEST(SweepsTest, CancelledBetweenItsLastResultAndItsEndItIsComplete) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1), {ResultOf(1, 0, 0, 1.0)});
  ASSERT_EQ(world.StateOf(SweepId{1}), SweepState::kActive);
  world.Do(CancelTarget{SweepId{1}, "c1", {}});
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
}

TEST(SweepsTest, CancelledTrialLeavesTheOthersOfItsCohortAlone) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 2, 2));
  world.Do(CancelTarget{Trial(1, 1, 0), "c1", {}});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kCancelled);
  world.Send(1, AttemptOf(1, 1, 1),
             {ResultOf(1, 0, 0, 1.0), ResultOf(2, 1, 1, 2.0)});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kCancelled);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 1)), TrialState::kSucceeded);
}

TEST(SweepsTest, CancellingWhatIsNotThereIsNotFound) {
  World world;
  world.Submit(MakeSweep(1, 1, 1));
  for (const Target& target :
       {Target(SweepId{9}), Target(CellId{{1}, 9}), Target(Trial(1, 1, 9)),
        Target(Trial(1, 0, 0)), Target(Trial(1, -1, -1))}) {
    const Outcome outcome = world.Do(CancelTarget{target, "c", {}});
    EXPECT_TRUE(absl::IsNotFound(outcome.answer.status()));
  }
}

TEST(SweepsTest, WithoutAnAgentTheReportSaysSo) {
  World world;
  world.Submit(MakeSweep(1, 1, 1));
  const auto report = *world.control().Progress(SweepId{1});
  EXPECT_EQ(report.waiting_for, "no live agents, 1 queued");
  EXPECT_FALSE(report.can_run);
}

TEST(SweepsTest, NothingIsPlacedWhileNobodyWantsWork) {
  World world;
  world.Do(ClientsWantWork{false});
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  EXPECT_THAT(world.control().Progress(SweepId{1})->waiting_for,
              HasSubstr("leadline run"));
  world.Do(ClientsWantWork{true});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
}

TEST(SweepsTest, ParallelLimitHoldsOverTheWholeSweep) {
  World world;
  NewSweep sweep = MakeSweep(3, 1, 1);
  sweep.sweep.parallel_limit = 1;
  world.Submit(std::move(sweep));
  world.Register(1, "n", 4);
  EXPECT_EQ(world.control().state().live.size(), 1u);
  world.Send(1, AttemptOf(1, 1, 1), {ResultOf(1, 0, 0, 1.0)});
  world.End(1, AttemptOf(1, 1, 1));
  EXPECT_EQ(world.StateOf(Trial(1, 2, 0)), TrialState::kLeased);
  EXPECT_EQ(world.StateOf(Trial(1, 3, 0)), TrialState::kQueued);
}

TEST(SweepsTest, ProgressCountsStepsAndEstimatesTheTimeLeft) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(2, 1, 1));
  world.Do(Tick{});
  world.Pass(Seconds{5});
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 5)});
  world.Do(Tick{});
  const auto report = *world.control().Progress(SweepId{1});
  EXPECT_DOUBLE_EQ(report.fraction_done, 0.25);
  EXPECT_DOUBLE_EQ(report.tokens_per_second, 100);
  ASSERT_TRUE(report.seconds_left.has_value());
  EXPECT_NEAR(*report.seconds_left, 15, 1e-9);
}

TEST(SweepsTest, EndedSweepIsForgottenAfterAWhile) {
  World world;
  world.Submit(MakeSweep(1, 1, 1));
  world.Do(CancelTarget{SweepId{1}, "c1", {}});
  EXPECT_TRUE(world.control().Progress(SweepId{1}).has_value());
  world.Wait(Seconds{15});
  EXPECT_FALSE(world.control().Progress(SweepId{1}).has_value());
  EXPECT_TRUE(
      absl::IsNotFound(world.Do(LookAtSweep{SweepId{1}}).answer.status()));
}

}  // namespace
}  // namespace leadline::control
