// Attempts whose ranks are on two nodes, one each.

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
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

const AttemptKey kFirst = AttemptOf(1, 1, 1);
const TrialId kTrial = Trial(1, 1, 0);

NewSweep TwoRanks() {
  NewSweep sweep = MakeSweep(1, 1, 1);
  sweep.cells[0].record.settings_json = R"({"devices":2,"threads":1})";
  return sweep;
}

AttemptStarted Started(int64_t session, int64_t rank,
                       const std::string& address) {
  AttemptStarted started{{session}, kFirst, "/data", "cpu"};
  started.pid = 100 + rank;
  started.ranks = {{rank, 100 + rank, address}};
  return started;
}

AttemptWaiting Ready(int64_t session) {
  return {{session}, kFirst, "ready", true};
}

/// Sessions that get an order of that kind.
template <typename Kind>
std::vector<int64_t> ToldOf(const Outcome& outcome) {
  std::vector<int64_t> sessions;
  for (const AgentOrder& order : outcome.orders) {
    if (std::holds_alternative<Kind>(order.order)) {
      sessions.push_back(order.session.value);
    }
  }
  return sessions;
}

/// Node a on session 1 holds rank 0, node b on session 2 rank 1.
class Gangs : public testing::Test {
 protected:
  Gangs() {
    world.Register(1, "a", 1);
    world.Register(2, "b", 1);
    world.Submit(TwoRanks());
  }

  void Run() { world.Send(1, kFirst, {StepAt(1, 1)}); }

  storage::AttemptRecord First() { return world.Attempt(kFirst); }

  World world;
};

TEST(GangPlacement, AllRanksStartAtOnceOrNone) {
  World world;
  world.Register(1, "a", 1);
  world.Submit(TwoRanks());
  EXPECT_THAT(world.DeferralOf(1, 1).reason,
              HasSubstr("all nodes together have 0 devices of one type and 1 "
                        "CPU slot"));
  const auto starts = Orders<StartOrder>(world.Register(2, "b", 1));
  ASSERT_THAT(starts, SizeIs(2));
  EXPECT_EQ(starts[0].world_size, 2);
  EXPECT_EQ(starts[0].first_rank, 0);
  EXPECT_EQ(starts[1].first_rank, 1);
  EXPECT_THAT(starts[1].devices, ElementsAre("cpu:0"));
  const storage::AttemptRecord attempt = world.Attempt(kFirst);
  EXPECT_EQ(attempt.node, "a+b");
  EXPECT_THAT(attempt.ranks,
              ElementsAre(storage::RankRecord{"a", {"cpu:0"}, 0},
                          storage::RankRecord{"b", {"cpu:0"}, 0}));
}

TEST(GangPlacement, AnAgentOfBeforeGetsNone) {
  World world;
  world.Register(1, "a", 1);
  NodeRegistered old;
  old.session = {2};
  old.node = "b";
  old.instance = "i1";
  old.devices = {{"cpu:0", "cpu", 0}};
  old.takes_gangs = false;
  world.Do(old);
  world.Submit(TwoRanks());
  EXPECT_THAT(world.DeferralOf(1, 1).reason, HasSubstr("too old"));
}

TEST_F(Gangs, TrainersStartOnceEveryPartIsReady) {
  EXPECT_THAT(ToldOf<RendezvousOrder>(world.Do(Ready(2))), IsEmpty());
  EXPECT_EQ(world.control().Progress(SweepId{1})->waiting_for, "b is ready");
  EXPECT_THAT(ToldOf<RendezvousOrder>(world.Do(Ready(1))),
              UnorderedElementsAre(1, 2));
  EXPECT_THAT(ToldOf<RendezvousOrder>(world.Do(Ready(2))), ElementsAre(2))
      << "it may not have heard it";
}

TEST_F(Gangs, PeersAreToldOnceAllOfThemAreKnown) {
  world.Do(Ready(1));
  world.Do(Ready(2));
  world.Do(Started(1, 0, ""));
  world.Do(Started(1, 0, "10.0.0.1:7"));
  const Outcome outcome = world.Do(Started(2, 1, "10.0.0.2:8"));
  std::vector<RendezvousOrder> told = Orders<RendezvousOrder>(outcome);
  std::erase_if(told, [](const auto& order) { return order.peers.empty(); });
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_THAT(told[0].peers, ElementsAre("10.0.0.1:7", "10.0.0.2:8"));
  EXPECT_THAT(First().ranks,
              ElementsAre(storage::RankRecord{"a", {"cpu:0"}, 100},
                          storage::RankRecord{"b", {"cpu:0"}, 101}));
}

TEST_F(Gangs, PeersAreToldAgainAfterEitherHasComeBack) {
  world.Do(Started(1, 0, "10.0.0.1:7"));
  world.Do(Started(2, 1, "10.0.0.2:8"));
  world.Register(3, "b", 1, {{kFirst, {"cpu:0"}}});
  const auto peers = [](const Outcome& outcome) {
    std::vector<RendezvousOrder> told = Orders<RendezvousOrder>(outcome);
    std::erase_if(told, [](const auto& order) { return order.peers.empty(); });
    return told.size();
  };
  EXPECT_EQ(peers(world.Do(Started(3, 1, "10.0.0.2:8"))), 1U);
  world.Restart();
  world.Register(1, "a", 1, {{kFirst, {"cpu:0"}}});
  world.Register(2, "b", 1, {{kFirst, {"cpu:0"}}});
  EXPECT_EQ(peers(world.Do(Started(1, 0, "10.0.0.1:7"))), 0U);
  EXPECT_EQ(peers(world.Do(Started(2, 1, "10.0.0.2:8"))), 2U);
}

TEST_F(Gangs, TheAttemptEndsWithItsLastPart) {
  Run();
  world.Send(1, kFirst, {ResultOf(2, 0, 0, 1.5)});
  EXPECT_THAT(ToldOf<EndedAckOrder>(world.End(1, kFirst)), IsEmpty());
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kActive);
  EXPECT_THAT(ToldOf<EndedAckOrder>(world.End(2, kFirst)),
              UnorderedElementsAre(1, 2));
  EXPECT_EQ(First().outcome, AttemptOutcome::kSucceeded);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
}

TEST_F(Gangs, APartThatIsDoneWaitsForTheResults) {
  Run();
  world.End(2, kFirst);
  EXPECT_EQ(world.StateOf(kTrial), TrialState::kRunning);
  world.Send(1, kFirst, {ResultOf(2, 0, 0, 1.5)});
  world.End(1, kFirst);
  EXPECT_EQ(First().outcome, AttemptOutcome::kSucceeded);
}

TEST_F(Gangs, ACrashOfOneEndsAllAndNoResultIsTakenThen) {
  Run();
  const Outcome outcome = world.End(2, kFirst, FailureKind::kCrash);
  EXPECT_THAT(ToldOf<StopOrder>(outcome), ElementsAre(1));
  EXPECT_THAT(ToldOf<EndedAckOrder>(outcome), ElementsAre(2));
  EXPECT_EQ(First().kind, FailureKind::kCrash);
  EXPECT_THAT(First().message, testing::StartsWith("on node b: "));
  EXPECT_THAT(world.StandingOf(1, 1).failed_nodes, ElementsAre("b"));
  world.Send(1, kFirst, {ResultOf(2, 0, 0, 1.5)});
  EXPECT_NE(world.StateOf(kTrial), TrialState::kSucceeded);
  EXPECT_THAT(world.orphans(), SizeIs(1));
  world.Idle(Seconds{4});
  EXPECT_THAT(world.DeferralOf(1, 1).reason,
              HasSubstr("still being ended on node a"));
  world.End(1, kFirst);
  EXPECT_TRUE(world.IdleUntilLive({{{1}, 1}, 0}, Seconds{10}));
}

TEST_F(Gangs, WhatFollowedFromAnotherRankDoesNotHideTheCause) {
  Run();
  EXPECT_THAT(world.End(1, kFirst, FailureKind::kNccl).orders, IsEmpty());
  world.Idle(Seconds{2});
  EXPECT_EQ(First().outcome, AttemptOutcome::kLive);
  world.End(2, kFirst, FailureKind::kOom);
  EXPECT_EQ(First().kind, FailureKind::kOom);
}

TEST_F(Gangs, WithoutABetterCauseTheFirstIsBelievedAndNoNodeIsBlamed) {
  Run();
  world.End(1, kFirst, FailureKind::kNccl);
  const Outcome outcome = world.Idle(Seconds{6});
  EXPECT_THAT(ToldOf<StopOrder>(outcome), testing::Contains(2));
  EXPECT_EQ(First().kind, FailureKind::kNccl);
  EXPECT_THAT(world.StandingOf(1, 1).failed_nodes, IsEmpty());
  EXPECT_TRUE(world.NodeOf("a").IsClean());
  EXPECT_TRUE(world.NodeOf("b").IsClean());
}

TEST_F(Gangs, RanksThatMissThoseOfALostNodeDoNotHideThatItIsLost) {
  Run();
  world.Do(NodeLost{{2}});
  EXPECT_EQ(world.StateOf(kTrial), TrialState::kUnreachable);
  world.End(1, kFirst, FailureKind::kNccl);
  world.Wait(Seconds{6});
  EXPECT_EQ(First().outcome, AttemptOutcome::kSuperseded);
  EXPECT_THAT(First().message, HasSubstr("node b was not heard"));
  EXPECT_EQ(world.StandingOf(1, 1).failures, 0);
}

TEST_F(Gangs, OnePartThatIsNotHeardMakesAllOfItUnreachableAndInTheEndLost) {
  Run();
  for (int second = 0; second < 20; ++second) {
    world.Do(Heartbeat{{1}, second, {kFirst}});
    world.Wait(Seconds{1});
  }
  EXPECT_EQ(world.StateOf(kTrial), TrialState::kUnreachable);
  world.Register(3, "b", 1, {{kFirst, {"cpu:0"}}});
  EXPECT_EQ(world.StateOf(kTrial), TrialState::kRunning);
  world.Do(NodeLost{{3}});
  Outcome last;
  for (int second = 0; second < 50; ++second) {
    world.Do(Heartbeat{{1}, 100 + second, {kFirst}});
    Outcome outcome = world.Wait(Seconds{1});
    if (!outcome.orders.empty()) last = std::move(outcome);
  }
  EXPECT_EQ(First().outcome, AttemptOutcome::kSuperseded);
  EXPECT_THAT(ToldOf<StopOrder>(last), ElementsAre(1));
}

TEST_F(Gangs, AnAgentThatComesBackWithoutItsRanksEndsAll) {
  Run();
  const Outcome outcome = world.Register(3, "b", 1, {}, "i2");
  EXPECT_EQ(First().outcome, AttemptOutcome::kLive) << "a rival waits";
  const Outcome lost = world.Do(NodeLost{{2}});
  EXPECT_EQ(First().outcome, AttemptOutcome::kSuperseded);
  EXPECT_THAT(ToldOf<StopOrder>(lost), ElementsAre(1));
}

TEST_F(Gangs, AStopGoesToAllPartsAndIsDoneWithTheLast) {
  Run();
  world.Pause({1}, true);
  EXPECT_THAT(ToldOf<StopOrder>(world.last()), UnorderedElementsAre(1, 2));
  world.End(1, kFirst, FailureKind::kNccl);
  EXPECT_EQ(First().outcome, AttemptOutcome::kLive);
  world.End(2, kFirst);
  EXPECT_EQ(First().outcome, AttemptOutcome::kPreempted);
  EXPECT_EQ(world.StateOf(kTrial), TrialState::kSuspended);
}

TEST_F(Gangs, ACancelGoesToAllParts) {
  Run();
  const Outcome outcome = world.Do(CancelTarget{SweepId{1}, "c", {}});
  EXPECT_THAT(ToldOf<StopOrder>(outcome), UnorderedElementsAre(1, 2));
  EXPECT_EQ(First().outcome, AttemptOutcome::kCancelled);
}

TEST_F(Gangs, OneThatCannotStartEndsAllUnderItsKind) {
  const Outcome outcome = world.Do(
      AttemptRefused{{2}, kFirst, FailureKind::kData, "not what it was"});
  EXPECT_EQ(First().kind, FailureKind::kData);
  EXPECT_THAT(ToldOf<StopOrder>(outcome), ElementsAre(1));
  EXPECT_THAT(world.StandingOf(1, 1).failed_nodes, ElementsAre("b"));
}

TEST_F(Gangs, ARestartWaitsForBothOfThem) {
  Run();
  world.Restart();
  EXPECT_EQ(world.StateOf(kTrial), TrialState::kUnreachable);
  world.Register(1, "a", 1, {{kFirst, {"cpu:0"}}});
  EXPECT_EQ(world.StateOf(kTrial), TrialState::kUnreachable);
  world.Register(2, "b", 1, {{kFirst, {"cpu:0"}}});
  EXPECT_EQ(world.StateOf(kTrial), TrialState::kRunning);
}

TEST_F(Gangs, RecordsComeFromTheFirstRankAlone) {
  Run();
  EXPECT_THAT(ToldOf<CloseOrder>(world.Send(2, kFirst, {StepAt(2, 2)})),
              ElementsAre(2));
  EXPECT_EQ(First().last_sequence, 1);
}

TEST_F(Gangs, NodesShowTheRanksTheyHold) {
  world.Do(Started(2, 1, ""));
  const auto report = std::get<NodesReport>(*world.Do(LookAtNodes{"b"}).answer);
  const NodeAttempt& attempt = report.nodes.at(0).attempts.at(0);
  EXPECT_EQ(attempt.first_rank, 1);
  EXPECT_EQ(attempt.world_size, 2);
  EXPECT_EQ(attempt.ranks.at(0).pid, 101);
}

}  // namespace
}  // namespace leadline::control
