#include "coordinator/control/quarantine.h"

#include <set>
#include <string>
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

/// The live attempts on a node.
std::vector<AttemptKey> LiveOn(const World& world, const std::string& node) {
  std::vector<AttemptKey> keys;
  for (const auto& [key, devices] :
       world.control().state().nodes.at(node).held) {
    keys.push_back(key);
  }
  return keys;
}

void FailAllOn(World& world, int64_t session, const std::string& node,
               std::set<CohortId>& hit,
               FailureKind kind = FailureKind::kCrash) {
  for (const AttemptKey& key : LiveOn(world, node)) {
    hit.insert(key.cohort);
    world.End(session, key, kind);
  }
}

void Succeed(World& world, int64_t session, const AttemptKey& key) {
  world.Send(session, key, {ResultOf(1, 0, 0, 1.0)});
  world.End(session, key);
}

/// Crashes the first three cohorts of the only slot of node "n".
void CrashThree(World& world) {
  for (int64_t cell = 1; cell <= 3; ++cell) {
    world.End(1, AttemptOf(1, cell, 1), FailureKind::kCrash);
  }
}

TEST(QuarantineTest, AgentThatFailsAtOnceHitsThreeTrialsAndSparesThem) {
  World world;
  world.Register(1, "bad", 2);
  world.Submit(MakeSweep(20, 1, 1));
  std::set<CohortId> hit;
  for (int i = 0; i < 3; ++i) {
    const AttemptKey key = LiveOn(world, "bad").front();
    hit.insert(key.cohort);
    world.End(1, key, FailureKind::kCrash);
  }
  EXPECT_THAT(hit, SizeIs(3));
  EXPECT_TRUE(world.NodeOf("bad").quarantined);
  EXPECT_THAT(LiveOn(world, "bad"), SizeIs(1)) << "what ran there goes on";
  FailAllOn(world, 1, "bad", hit);
  EXPECT_THAT(LiveOn(world, "bad"), IsEmpty());

  world.Register(2, "good", 4);
  for (int i = 0; i < 30; ++i) {
    for (const AttemptKey& key : LiveOn(world, "good")) Succeed(world, 2, key);
    FailAllOn(world, 1, "bad", hit);
    world.Idle(Seconds{1});
  }
  EXPECT_THAT(hit, SizeIs(4)) << "one was running beside the third";
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
  for (int64_t cell = 1; cell <= 20; ++cell) {
    EXPECT_EQ(world.StateOf(Trial(1, cell, 0)), TrialState::kSucceeded);
  }
}

TEST(QuarantineTest, TriesAreGivenBack) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(5, 1, 1));
  CrashThree(world);
  for (int64_t cell = 1; cell <= 3; ++cell) {
    EXPECT_EQ(world.StandingOf(1, cell).failures, 0);
    EXPECT_EQ(world.StandingOf(1, cell).failures_in_row, 0);
    EXPECT_EQ(world.StandingOf(1, cell).spared, 1);
  }
  EXPECT_THAT(LiveOn(world, "n"), IsEmpty());
  EXPECT_THAT(world.DeferralOf(1, 4).reason,
              HasSubstr("node n is quarantined (3 failures in a row, the last: "
                        "crash: "));
  EXPECT_THAT(world.DeferralOf(1, 1).reason, HasSubstr("put down to its node"));
  world.Idle(Seconds{4});
  EXPECT_THAT(world.control().Progress(SweepId{1})->waiting_for,
              HasSubstr("quarantined"));
  EXPECT_TRUE(world.control().Progress(SweepId{1})->can_run);
}

TEST(QuarantineTest, OneCanaryIsTriedAndItsSuccessEndsIt) {
  World world;
  world.Register(1, "n", 2);
  world.Submit(MakeSweep(8, 1, 1));
  std::set<CohortId> hit;
  while (!LiveOn(world, "n").empty()) FailAllOn(world, 1, "n", hit);
  world.Idle(Seconds{4});
  EXPECT_THAT(LiveOn(world, "n"), IsEmpty());
  world.Idle(Seconds{2});
  ASSERT_THAT(LiveOn(world, "n"), SizeIs(1)) << "though two slots are free";
  const AttemptKey canary = LiveOn(world, "n").front();
  EXPECT_EQ(world.NodeOf("n").canary, canary);
  EXPECT_TRUE(hit.contains(canary.cohort)) << "nobody else is put at risk";
  EXPECT_THAT(world.DeferralOf(1, 8).reason,
              HasSubstr("shows whether it is well again"));
  Succeed(world, 1, canary);
  EXPECT_TRUE(world.NodeOf("n").IsClean());
  EXPECT_THAT(*world.store().LoadNodes(), IsEmpty());
  EXPECT_THAT(LiveOn(world, "n"), SizeIs(2));
}

TEST(QuarantineTest, WaitDoublesWithEachFailedCanary) {
  World world;
  world.Register(1, "n", 1);
  world.Register(2, "busy", 1);
  NewSweep sweep = MakeSweep(9, 1, 1);
  world.Submit(std::move(sweep));
  // The other node works on one cohort for long: it can tell who is to blame.
  ASSERT_THAT(LiveOn(world, "busy"), SizeIs(1));
  std::set<CohortId> hit;
  while (!LiveOn(world, "n").empty()) FailAllOn(world, 1, "n", hit);
  for (const double wait : {5.0, 10.0, 20.0, 40.0, 80.0}) {
    world.Idle(Seconds{wait - 1});
    EXPECT_THAT(LiveOn(world, "n"), IsEmpty()) << wait;
    world.Idle(Seconds{2});
    ASSERT_THAT(LiveOn(world, "n"), SizeIs(1)) << wait;
    const AttemptKey canary = LiveOn(world, "n").front();
    world.End(1, canary, FailureKind::kHang);
    EXPECT_EQ(world.control()
                  .state()
                  .sweeps.at({1})
                  .cells.at(canary.cohort.cell.number - 1)
                  .cohorts.at(0)
                  .record.failures,
              0);
  }
  EXPECT_TRUE(world.NodeOf("n").quarantined);
}

TEST(QuarantineTest, SurvivesARestartWithItsReasonAndItsCanary) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(5, 1, 1));
  CrashThree(world);
  const storage::NodeRecord before = world.NodeOf("n");
  world.Restart();
  EXPECT_EQ(world.NodeOf("n"), before);
  world.Register(2, "n", 1);
  EXPECT_THAT(LiveOn(world, "n"), IsEmpty());
  EXPECT_THAT(world.DeferralOf(1, 4).reason, HasSubstr("quarantined"));
  world.Idle(Seconds{6});
  ASSERT_THAT(LiveOn(world, "n"), SizeIs(1));
  const AttemptKey canary = LiveOn(world, "n").front();
  world.Restart();
  world.Register(3, "n", 1, {{canary, {"cpu:0"}}});
  EXPECT_EQ(world.NodeOf("n").canary, canary);
  Succeed(world, 3, canary);
  EXPECT_TRUE(world.NodeOf("n").IsClean());
}

TEST(QuarantineTest, OneCohortAloneSaysNothingOfItsNode) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  for (int64_t number = 1; number <= 3; ++number) {
    ASSERT_TRUE(world.IdleUntilLive({{{1}, 1}, 0}, Seconds{20}));
    world.End(1, AttemptOf(1, 1, number), FailureKind::kCrash);
  }
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kFailed);
  EXPECT_FALSE(world.NodeOf("n").quarantined);
}

TEST(QuarantineTest, SuccessInBetweenEndsTheRow) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(6, 1, 1));
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kCrash);
  world.End(1, AttemptOf(1, 2, 1), FailureKind::kCrash);
  Succeed(world, 1, AttemptOf(1, 3, 1));
  world.End(1, AttemptOf(1, 4, 1), FailureKind::kCrash);
  world.End(1, AttemptOf(1, 5, 1), FailureKind::kCrash);
  EXPECT_FALSE(world.NodeOf("n").quarantined);
  EXPECT_THAT(world.NodeOf("n").failures, SizeIs(2));
}

TEST(QuarantineTest, TrainingForAWhileSpeaksForANode) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(5, 1, 1));
  CrashThree(world);
  world.Idle(Seconds{6});
  const AttemptKey canary = LiveOn(world, "n").at(0);
  world.Send(1, canary, {StepAt(1, 1)});
  world.Idle(Seconds{61});
  EXPECT_TRUE(world.NodeOf("n").quarantined) << "idle is no work";
  world.Send(1, canary, {StepAt(2, 2)});
  EXPECT_FALSE(world.NodeOf("n").quarantined);
  EXPECT_EQ(world.NodeOf("n").rounds, 1) << "the next one is longer";
}

TEST(QuarantineTest, KindsThatSayNothingOfTheMachineDoNotCount) {
  for (const FailureKind kind :
       {FailureKind::kConfig, FailureKind::kData, FailureKind::kOom,
        FailureKind::kDisk, FailureKind::kAgentLost}) {
    World world;
    world.Register(1, "n", 1);
    world.Submit(MakeSweep(6, 1, 1));
    for (int64_t cell = 1; cell <= 4; ++cell) {
      const auto live = LiveOn(world, "n");
      if (!live.empty()) world.End(1, live.front(), kind);
    }
    EXPECT_TRUE(world.NodeOf("n").IsClean()) << Name(kind);
  }
}

TEST(QuarantineTest, FaultOfADeviceIsEnough) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(2, 1, 1));
  world.Do(AttemptEnded{{1},
                        AttemptOf(1, 1, 1),
                        0,
                        1,
                        0,
                        FailureKind::kDevice,
                        "Xid 79: fell off the bus"});
  EXPECT_TRUE(world.NodeOf("n").quarantined);
  EXPECT_EQ(world.NodeOf("n").reason, "device: Xid 79: fell off the bus");
  EXPECT_EQ(world.StandingOf(1, 1).failures, 0);
  EXPECT_EQ(world.StateOf(Trial(1, 2, 0)), TrialState::kQueued);
}

TEST(QuarantineTest, SweepOfBrokenCodeOnTheOnlyNodeEnds) {
  for (const FailureKind kind : {FailureKind::kCrash, FailureKind::kDevice}) {
    World world;
    world.Register(1, "n", 1);
    world.Submit(MakeSweep(12, 1, 1));
    int64_t attempts = 0;
    int64_t seconds = 0;
    for (; seconds < 1200 && world.StateOf(SweepId{1}) == SweepState::kActive;
         ++seconds) {
      while (!LiveOn(world, "n").empty()) {
        world.End(1, LiveOn(world, "n").front(), kind);
        ++attempts;
      }
      world.Idle(Seconds{1});
    }
    EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete) << Name(kind);
    EXPECT_LE(attempts, 12 * 3 + 3);
    for (int64_t cell = 1; cell <= 12; ++cell) {
      EXPECT_EQ(world.StateOf(Trial(1, cell, 0)), TrialState::kFailed);
    }
  }
}

TEST(QuarantineTest, SweepOfBrokenCodeEndsOnAnyNumberOfNodes) {
  for (int64_t nodes = 2; nodes <= 6; ++nodes) {
    World world;
    for (int64_t n = 1; n <= nodes; ++n) {
      world.Register(n, "n" + std::to_string(n), 2);
    }
    world.Submit(MakeSweep(20, 1, 1));
    int64_t attempts = 0;
    for (int64_t seconds = 0;
         seconds < 3600 && world.StateOf(SweepId{1}) == SweepState::kActive;
         ++seconds) {
      for (int64_t n = 1; n <= nodes; ++n) {
        for (const auto& key : LiveOn(world, "n" + std::to_string(n))) {
          world.End(n, key, FailureKind::kCrash);
          ++attempts;
        }
      }
      world.Idle(Seconds{1});
    }
    EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete) << nodes;
    EXPECT_LE(attempts, 20 * 8) << nodes;
  }
}

TEST(QuarantineTest, NodeWithTooLittleMemoryTellsNothing) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  World world;
  world.RegisterWith(1, "a", {{"GPU-0", "H200", 2 * kGiB}});
  world.RegisterWith(2, "n", {{"GPU-0", "H200", 4 * kGiB}});
  world.Submit(MakeSweep(3, 1, 1));
  ASSERT_EQ(world.Attempt(AttemptOf(1, 1, 1)).node, "a");
  ASSERT_EQ(world.Attempt(AttemptOf(1, 2, 1)).node, "n");
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kOom);
  world.End(2, AttemptOf(1, 2, 1), FailureKind::kDevice);
  ASSERT_TRUE(world.NodeOf("n").quarantined);
  world.Idle(Seconds{7});
  ASSERT_EQ(world.NodeOf("n").canary, AttemptOf(1, 1, 2));
  world.End(2, AttemptOf(1, 1, 2), FailureKind::kCrash);
  EXPECT_EQ(world.StandingOf(1, 1).failures, 2) << "only n could have run it";
}

TEST(QuarantineTest, NodeWithoutSuchDevicesTellsNothing) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  World world;
  world.RegisterWith(1, "gpu", {{"GPU-0", "H200", 4 * kGiB}});
  world.Register(2, "cpu", 4);
  world.Submit(MakeSweep(1, 1, 1));
  ASSERT_EQ(world.Attempt(AttemptOf(1, 1, 1)).node, "gpu");
  world.End(1, AttemptOf(1, 1, 1), FailureKind::kDevice);
  ASSERT_TRUE(world.NodeOf("gpu").quarantined);
  ASSERT_TRUE(world.IdleUntilLive({{{1}, 1}, 0}, Seconds{20}));
  world.End(1, AttemptOf(1, 1, 2), FailureKind::kCrash);
  EXPECT_EQ(world.StandingOf(1, 1).failures, 1)
      << "where there are graphics cards no cohort goes to a CPU";
}

TEST(QuarantineTest, AQuarantineWhoseWaitIsOverIsNotPlannedWithEachTick) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(5, 1, 1));
  CrashThree(world);
  world.Idle(Seconds{10});
  ASSERT_TRUE(world.NodeOf("n").canary.has_value());
  world.Pass(Seconds{0.25});
  world.Do(Tick{});
  EXPECT_NE(world.control().state().planned_at, world.now().steady);
}

TEST(QuarantineTest, SuccessElsewhereShowsThatTheCodeCanRun) {
  World world;
  world.Register(1, "bad", 1);
  world.Submit(MakeSweep(30, 1, 1));
  std::set<CohortId> hit;
  for (int i = 0; i < 40 && !world.NodeOf("bad").undecided; ++i) {
    FailAllOn(world, 1, "bad", hit);
    world.Idle(Seconds{1});
  }
  ASSERT_TRUE(world.NodeOf("bad").undecided);
  world.Register(2, "good", 1);
  FailAllOn(world, 1, "bad", hit);
  Succeed(world, 2, LiveOn(world, "good").front());
  EXPECT_FALSE(world.NodeOf("bad").undecided);
  for (int i = 0; i < 3; ++i) FailAllOn(world, 1, "bad", hit);
  EXPECT_TRUE(world.NodeOf("bad").quarantined);
}

TEST(QuarantineTest, CanaryThatEndsForOtherReasonsIsFollowedByAnother) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(6, 1, 1));
  CrashThree(world);
  world.Idle(Seconds{6});
  const AttemptKey first = LiveOn(world, "n").at(0);
  world.End(1, first, FailureKind::kAgentLost);
  EXPECT_FALSE(world.NodeOf("n").canary.has_value());
  world.Idle(Seconds{6});
  ASSERT_THAT(LiveOn(world, "n"), SizeIs(1));
  EXPECT_NE(LiveOn(world, "n").front(), first);
  EXPECT_EQ(world.NodeOf("n").failed_canaries, 0);
}

TEST(QuarantineTest, IsOffWhereNobodyWantsIt) {
  Policy policy;
  policy.quarantine_after = 0;
  World world(policy);
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(6, 1, 1));
  for (int64_t cell = 1; cell <= 5; ++cell) {
    world.End(1, AttemptOf(1, cell, 1), FailureKind::kDevice);
  }
  EXPECT_FALSE(world.NodeOf("n").quarantined);
}

}  // namespace
}  // namespace leadline::control
