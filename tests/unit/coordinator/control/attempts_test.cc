#include <limits>
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

TEST(AttemptsTest, TrialRunsFromTheFirstRecordToItsResult) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1)});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kRunning);
  const Outcome last =
      world.Send(1, AttemptOf(1, 1, 1), {ResultOf(2, 0, 0, 1.25)});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kSucceeded);
  EXPECT_EQ(Orders<AckOrder>(last).at(0).sequence, 2);
  EXPECT_EQ((*world.reader().FindResult(Trial(1, 1, 0)))->validation_loss,
            1.25);
  const Outcome ended = world.End(1, AttemptOf(1, 1, 1));
  EXPECT_THAT(Orders<EndedAckOrder>(ended), SizeIs(1));
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
  EXPECT_EQ(world.Attempt(AttemptOf(1, 1, 1)).outcome,
            AttemptOutcome::kSucceeded);
}

TEST(AttemptsTest, OrderCarriesTheCohortItsDevicesAndSettings) {
  World world;
  world.Submit(MakeSweep(1, 3, 2));
  const Outcome outcome = world.Register(1, "n", 2);
  const auto starts = Orders<StartOrder>(outcome);
  ASSERT_THAT(starts, SizeIs(2));
  EXPECT_THAT(starts[0].seeds, ElementsAre(0, 1));
  EXPECT_THAT(starts[0].trials, ElementsAre(Trial(1, 1, 0), Trial(1, 1, 1)));
  EXPECT_THAT(starts[1].trials, ElementsAre(Trial(1, 1, 2)));
  EXPECT_THAT(starts[1].devices, ElementsAre("cpu:1"));
  EXPECT_EQ(starts[0].settings.at("threads"), spec::Value(int64_t{1}));
  EXPECT_EQ(starts[0].dataset.name, "iid27");
}

TEST(AttemptsTest, DivergenceEndsOneReplicaAndIsNoFailure) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 2, 2));
  world.Send(1, AttemptOf(1, 1, 1),
             {DivergenceOf(1, 0, 0), ResultOf(2, 1, 1, 2.0)});
  world.End(1, AttemptOf(1, 1, 1));
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kDiverged);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 1)), TrialState::kSucceeded);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
}

TEST(AttemptsTest, ResultThatIsNotFiniteIsADivergence) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1),
             {ResultOf(1, 0, 0, std::numeric_limits<double>::quiet_NaN())});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kDiverged);
}

TEST(AttemptsTest, CrashIsTriedAgainAfterABackoffUpToThreeTimes) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  for (int64_t number = 1; number <= 3; ++number) {
    ASSERT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
    world.Send(1, AttemptOf(1, 1, number), {StepAt(1, 1)});
    world.End(1, AttemptOf(1, 1, number), FailureKind::kCrash);
    if (number == 3) break;
    EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
    EXPECT_THAT(world.control().Progress(SweepId{1})->waiting_for,
                HasSubstr("failure " + std::to_string(number) + " of 3"));
    for (int beat = 0; beat < 7; ++beat) {
      world.Do(Heartbeat{{1}, beat, {}});
      world.Wait(Seconds{1});
    }
  }
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  EXPECT_THAT(world.ReasonOf(Trial(1, 1, 0)), HasSubstr("crash"));
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
  const auto report = *world.control().Progress(SweepId{1});
  EXPECT_THAT(report.failures, SizeIs(3));
  EXPECT_TRUE(report.failures.back().is_final);
}

TEST(AttemptsTest, AgentThatCouldNotRenewUsesUpNoTry) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  for (int64_t number = 1; number <= 5; ++number) {
    world.End(1, AttemptOf(1, 1, number), FailureKind::kAgentLost);
    EXPECT_EQ(world.Attempt(AttemptOf(1, 1, number)).outcome,
              AttemptOutcome::kSuperseded);
    EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
  }
}

TEST(AttemptsTest, FullDiskIsWaitedForAndUsesUpNoTry) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  for (int64_t number = 1; number <= 5; ++number) {
    world.End(1, AttemptOf(1, 1, number), FailureKind::kDisk);
    EXPECT_EQ(world.Attempt(AttemptOf(1, 1, number)).kind, FailureKind::kDisk);
    EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
    const auto report = *world.control().Progress(SweepId{1});
    EXPECT_THAT(report.waiting_for, HasSubstr("disk"));
    EXPECT_FALSE(report.failures.back().is_final);
    EXPECT_TRUE(world.IdleUntilLive({{{1}, 1}, 0}, Seconds{150}));
  }
  world.Send(1, AttemptOf(1, 1, 6), {ResultOf(1, 0, 0, 1.25)});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kSucceeded);
}

TEST(AttemptsTest, BadConfigurationIsNotTriedAgain) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Do(AttemptRefused{
      {1}, AttemptOf(1, 1, 1), FailureKind::kConfig, "no such method"});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  EXPECT_THAT(world.ReasonOf(Trial(1, 1, 0)), HasSubstr("no such method"));
}

TEST(AttemptsTest, EndWithoutAllResultsIsACrashWhateverTheExitCode) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1)});
  world.End(1, AttemptOf(1, 1, 1));
  EXPECT_EQ(world.Attempt(AttemptOf(1, 1, 1)).kind, FailureKind::kCrash);
}

TEST(AttemptsTest, AgentSaysWhyItEndedATrainerThatNamedNoKind) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1),
             {{1, TrainerEnd{true, std::nullopt, "terminated"}}});
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kAgentLost);
  EXPECT_EQ(world.Attempt(AttemptOf(1, 1, 1)).outcome,
            AttemptOutcome::kSuperseded);
}

TEST(AttemptsTest, WhatATrainerTakesForACrashItsAgentMayKnowBetter) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(2, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1),
             {{1, TrainerEnd{true, FailureKind::kCrash, "std::bad_alloc"}}});
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kOom);
  EXPECT_EQ(world.Attempt(AttemptOf(1, 1, 1)).kind, FailureKind::kOom);
  world.Send(1, AttemptOf(1, 2, 1),
             {{1, TrainerEnd{true, FailureKind::kConfig, "no such method"}}});
  world.End(1, AttemptOf(1, 2, 1), FailureKind::kCrash);
  EXPECT_EQ(world.Attempt(AttemptOf(1, 2, 1)).kind, FailureKind::kConfig);
}

TEST(AttemptsTest, NoAgentSpeaksForAnothersAttempt) {
  World world;
  world.Register(1, "a", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Register(2, "b", 1);
  const AttemptKey attempt = AttemptOf(1, 1, 1);
  world.Do(AttemptStarted{{2}, attempt, "/elsewhere", "cpu"});
  world.Do(AttemptRefused{{2}, attempt, FailureKind::kConfig, "not mine"});
  world.End(2, attempt, FailureKind::kData);
  world.Send(2, attempt, {ResultOf(1, 0, 0, 0.5)});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
  EXPECT_EQ(world.Attempt(attempt).outcome, AttemptOutcome::kLive);
  EXPECT_EQ(world.Attempt(attempt).dataset_path, "");
  world.Send(1, attempt, {ResultOf(1, 0, 0, 1.5)});
  EXPECT_EQ((*world.reader().FindResult(Trial(1, 1, 0)))->validation_loss, 1.5);
}

TEST(AttemptsTest, WhoWatchesHearsThatAnAgentFetchesData) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  const AttemptKey attempt = AttemptOf(1, 1, 1);
  const auto waiting_for = [&] {
    return world.control().Progress(SweepId{1})->waiting_for;
  };
  world.Do(AttemptWaiting{{1}, attempt, "fetching text8.zip: 1 of 32 MB"});
  EXPECT_EQ(waiting_for(), "n is fetching text8.zip: 1 of 32 MB");
  world.Do(AttemptWaiting{{7}, attempt, "not the one that holds it"});
  EXPECT_EQ(waiting_for(), "n is fetching text8.zip: 1 of 32 MB");
  world.Do(AttemptStarted{{1}, attempt, "/data/text8", "cpu"});
  EXPECT_EQ(waiting_for(), "");
}

TEST(AttemptsTest, FailureLimitCancelsTheRest) {
  World world;
  world.Register(1, "n", 2);
  NewSweep sweep = MakeSweep(4, 1, 1);
  sweep.sweep.failure_limit = 1;
  world.Submit(std::move(sweep));
  const Outcome outcome = world.Do(AttemptRefused{
      {1}, AttemptOf(1, 1, 1), FailureKind::kData, "no such file"});
  EXPECT_THAT(Orders<StopOrder>(outcome), SizeIs(1));
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  EXPECT_EQ(world.StateOf(Trial(1, 2, 0)), TrialState::kCancelled);
  EXPECT_EQ(world.StateOf(Trial(1, 4, 0)), TrialState::kCancelled);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
}

TEST(AttemptsTest, RecordsOfASupersededAttemptAreKeptApart) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1)});
  world.Do(NodeLost{{1}});
  world.Wait(Seconds{50});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  const Outcome back = world.Register(2, "n", 1, {{AttemptOf(1, 1, 1), {}}});
  EXPECT_THAT(Orders<WelcomeOrder>(back).at(0).superseded,
              ElementsAre(AttemptOf(1, 1, 1)));
  const Outcome late =
      world.Send(2, AttemptOf(1, 1, 1), {ResultOf(2, 0, 0, 0.5)});
  EXPECT_THAT(world.orphans(), SizeIs(1));
  EXPECT_THAT(world.orphans()[0].text, HasSubstr("validation_loss=0.5"));
  EXPECT_THAT(Orders<AckOrder>(late), SizeIs(1));
  EXPECT_THAT(Orders<StopOrder>(late), SizeIs(1));
  EXPECT_FALSE(world.reader().FindResult(Trial(1, 1, 0))->has_value());
}

TEST(AttemptsTest, OfWhatIsLateOnlySoMuchIsKeptAndResultsAlways) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Do(NodeLost{{1}});
  world.Wait(Seconds{50});
  world.Register(2, "n", 1, {{AttemptOf(1, 1, 1), {}}});
  constexpr int64_t kMany = 2500;
  for (int64_t k = 1; k <= kMany; ++k) {
    const Outcome late = world.Send(2, AttemptOf(1, 1, 1), {StepAt(k, k)});
    EXPECT_EQ(Orders<AckOrder>(late).at(0).sequence, k);
  }
  EXPECT_THAT(world.orphans(), SizeIs(2000));
  world.Send(2, AttemptOf(1, 1, 1), {ResultOf(kMany + 1, 0, 0, 0.5)});
  EXPECT_THAT(world.orphans(), SizeIs(2001));
}

TEST(AttemptsTest, RecordsSentAgainChangeNothing) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1), StepAt(2, 2)});
  const Outcome again =
      world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1), StepAt(2, 2)});
  EXPECT_EQ(Orders<AckOrder>(again).at(0).sequence, 2);
  EXPECT_THAT(*world.reader().Curve(Trial(1, 1, 0), "train_loss", -1, 100),
              SizeIs(2));
}

TEST(AttemptsTest, GapInTheRecordsEndsTheStreamAndStoresNothingBehindIt) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  const Outcome outcome =
      world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1), StepAt(3, 3)});
  EXPECT_THAT(Orders<CloseOrder>(outcome), SizeIs(1));
  EXPECT_EQ(Orders<AckOrder>(outcome).at(0).sequence, 1);
}

TEST(AttemptsTest, EndThatOvertookItsRecordsIsNotJudgedWithoutThem) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  AttemptEnded ended{{1}, AttemptOf(1, 1, 1), 2, 0, 0, {}, ""};
  world.Send(1, ended.attempt, {StepAt(1, 1)});
  const Outcome early = world.Do(ended);
  EXPECT_THAT(Orders<CloseOrder>(early), SizeIs(1));
  EXPECT_THAT(Orders<EndedAckOrder>(early), IsEmpty());
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kRunning);
  world.Send(1, ended.attempt, {ResultOf(2, 0, 0, 1.0)});
  EXPECT_THAT(Orders<EndedAckOrder>(world.Do(ended)), SizeIs(1));
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kSucceeded);
}

TEST(AttemptsTest, ResultForAnotherSeedIsIgnored) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1),
             {ResultOf(1, 0, 17, 1.0), ResultOf(2, 64, 0, 1.0),
              ResultOf(3, -1, 0, 1.0)});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kRunning);
}

TEST(AttemptsTest, SecondAttemptTrainsTheWholeCohortAndKeepsFirstResults) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 2, 2));
  world.Send(1, AttemptOf(1, 1, 1), {ResultOf(1, 0, 0, 1.0)});
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kCrash);
  world.Pass(Seconds{5});
  const Outcome tick = world.Do(Tick{});
  const auto starts = Orders<StartOrder>(tick);
  ASSERT_THAT(starts, SizeIs(1));
  EXPECT_THAT(starts[0].seeds, ElementsAre(0, 1));
  world.Send(1, AttemptOf(1, 1, 2),
             {ResultOf(1, 0, 0, 9.0), ResultOf(2, 1, 1, 2.0)});
  EXPECT_EQ((*world.reader().FindResult(Trial(1, 1, 0)))->validation_loss, 1.0);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 1)), TrialState::kSucceeded);
}

}  // namespace
}  // namespace leadline::control
