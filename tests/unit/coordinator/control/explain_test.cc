#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control_world.h"

namespace leadline::control {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr SweepId kSweep{1};

TEST(ExplainTest, WithoutAgentsTheSweepSaysSoWithTheirNumber) {
  World world;
  world.Submit(MakeSweep(4, 3, 3));
  const Explanation answer = world.Explain(kSweep);
  EXPECT_EQ(answer.waiting_for, "no live agents, 12 queued");
  EXPECT_EQ(answer.live_agents, 0);
  ASSERT_THAT(answer.waiting, SizeIs(1));
  EXPECT_EQ(answer.waiting[0].trials, 12);
  EXPECT_EQ(answer.waiting[0].first, Trial(1, 1, 0));
  EXPECT_EQ(answer.waiting[0].reason, "no agent is connected");
}

TEST(ExplainTest, AnAgentThatWentAwayIsMissed) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(2, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1)});
  EXPECT_TRUE(world.control().Progress(kSweep)->can_run);
  world.Do(NodeLost{{1}});
  const auto report = *world.control().Progress(kSweep);
  EXPECT_EQ(report.waiting_for, "no live agents, 1 queued, 1 unreachable");
  EXPECT_FALSE(report.can_run);
  world.Wait(Seconds{60});
  EXPECT_EQ(world.control().Progress(kSweep)->waiting_for,
            "no live agents, 2 queued");
}

TEST(ExplainTest, AFailureTellsWhenItIsTriedAgainAndWhy) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kCrash);
  world.Pass(Seconds{1});
  const Explanation answer = world.Explain(Trial(1, 1, 0));
  ASSERT_TRUE(answer.trial.has_value());
  EXPECT_EQ(answer.trial->record.state, TrialState::kQueued);
  EXPECT_EQ(answer.trial->cohort.failures, 1);
  EXPECT_EQ(answer.tries, 3);
  ASSERT_TRUE(answer.trial->wait.has_value());
  EXPECT_THAT(answer.trial->wait->reason, HasSubstr("attempt 1 failed (crash"));
  ASSERT_TRUE(answer.trial->wait->retry_in.has_value());
  EXPECT_GT(answer.trial->wait->retry_in->count(), 0);
  EXPECT_FALSE(answer.trial->live.has_value());
}

TEST(ExplainTest, WhatRunsTellsWhereSinceWhenAndItsLease) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 2, 2));
  LiveNow live = *world.Explain(Trial(1, 1, 1)).trial->live;
  EXPECT_EQ(live.state, TrialState::kLeased);
  EXPECT_EQ(live.record.node, "n");
  EXPECT_EQ(live.trials, 2);
  EXPECT_FALSE(live.since_record.has_value());
  world.Do(AttemptWaiting{{1}, AttemptOf(1, 1, 1), "fetching text8.zip"});
  EXPECT_EQ(world.Explain(Trial(1, 1, 1)).trial->live->waiting_for,
            "fetching text8.zip");
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 7, 2)});
  world.Pass(Seconds{4});
  live = *world.Explain(Trial(1, 1, 1)).trial->live;
  EXPECT_EQ(live.state, TrialState::kRunning);
  EXPECT_EQ(live.step, 7);
  EXPECT_EQ(live.steps, 10);
  EXPECT_EQ(live.lease_left, Policy{}.lease - Seconds{4});
  EXPECT_EQ(live.since_record, Seconds{4});
  EXPECT_FALSE(live.given_up_in.has_value());
  world.Do(NodeLost{{1}});
  world.Pass(Seconds{16});
  live = *world.Explain(Trial(1, 1, 1)).trial->live;
  EXPECT_EQ(live.state, TrialState::kUnreachable);
  EXPECT_EQ(live.lease_left, Policy{}.lease - Seconds{20});
  EXPECT_EQ(live.given_up_in, Policy{}.lease + Policy{}.grace - Seconds{20});
}

TEST(ExplainTest, ASweepGroupsWhatWaitsTheLargestFirst) {
  World world;
  NewSweep sweep = MakeSweep(4, 1, 1);
  sweep.sweep.parallel_limit = 1;
  world.Submit(std::move(sweep));
  world.Register(1, "n", 1);
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kCrash);
  const Explanation answer = world.Explain(kSweep);
  ASSERT_THAT(answer.waiting, SizeIs(2));
  EXPECT_EQ(answer.waiting[0].trials, 2);
  EXPECT_THAT(answer.waiting[0].reason, HasSubstr("limits.parallel"));
  EXPECT_FALSE(answer.waiting[0].retry_in.has_value());
  EXPECT_EQ(answer.waiting[1].first, Trial(1, 1, 0));
  EXPECT_TRUE(answer.waiting[1].retry_in.has_value());
  ASSERT_THAT(answer.running, SizeIs(1));
  EXPECT_EQ(answer.running[0].record.key, AttemptOf(1, 2, 1));
}

TEST(ExplainTest, ManyReasonsAndAttemptsAreCut) {
  World world;
  world.Submit(MakeSweep(70, 1, 1));
  world.Register(1, "n", 70);
  EXPECT_THAT(world.Explain(kSweep).running, SizeIs(50));
  EXPECT_EQ(world.Explain(kSweep).running_left_out, 20);
}

TEST(ExplainTest, PausedAndStoppedTrialsPointToResume) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(2, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1)});
  world.Pause(kSweep, true);
  EXPECT_EQ(world.Explain(Trial(1, 1, 0)).trial->live->record.stop_reason,
            "paused by command");
  world.End(1, AttemptOf(1, 1, 1));
  for (const int64_t cell : {1, 2}) {
    const Explanation answer = world.Explain(Trial(1, cell, 0));
    EXPECT_EQ(answer.state, SweepState::kPaused);
    EXPECT_THAT(answer.trial->wait->reason, HasSubstr("leadline resume s1"));
  }
  EXPECT_THAT(world.Explain(kSweep).waiting, SizeIs(2));
}

TEST(ExplainTest, ItChangesNothingAndKnowsNothingOfWhatIsNotInMemory) {
  World world;
  world.Submit(MakeSweep(1, 1, 1));
  EXPECT_THAT(world.Do(ExplainTarget{kSweep}).changes, SizeIs(0));
  for (const Target& missing :
       {Target(Trial(1, 1, 9)), Target(Trial(1, 0, -1))}) {
    EXPECT_TRUE(
        absl::IsNotFound(world.Do(ExplainTarget{missing}).answer.status()));
  }
}

TEST(ExplainTest, OfWhatHasEndedItKnowsWhoIsThereToday) {
  World world;
  world.Register(1, "n", 1);
  world.Register(2, "m", 1);
  for (const Target& ended : {Target(SweepId{9}), Target(Trial(9, 1, 0))}) {
    const auto answer = world.Do(ExplainTarget{ended}).answer;
    ASSERT_TRUE(answer.ok()) << answer.status();
    const auto& explanation = std::get<Explanation>(*answer);
    EXPECT_EQ(explanation.live_agents, 2);
    EXPECT_FALSE(explanation.trial);
    EXPECT_THAT(explanation.waiting, SizeIs(0));
    EXPECT_THAT(explanation.running, SizeIs(0));
  }
}

}  // namespace
}  // namespace leadline::control
