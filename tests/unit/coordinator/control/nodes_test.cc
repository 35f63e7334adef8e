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

TEST(NodesTest, LostNodeMakesItsTrialsUnreachableAndItsReturnRunsThem) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1)});
  world.Do(NodeLost{{1}});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kUnreachable);
  const Outcome back = world.Register(2, "n", 1, {{AttemptOf(1, 1, 1), {}}});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kRunning);
  const auto welcome = Orders<WelcomeOrder>(back).at(0);
  ASSERT_THAT(welcome.acknowledged, SizeIs(1));
  EXPECT_EQ(welcome.acknowledged[0].second, 1);
  EXPECT_THAT(welcome.superseded, IsEmpty());
}

TEST(NodesTest, ReturnWithoutTheAttemptQueuesItAtOnce) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Do(NodeLost{{1}});
  const Outcome back = world.Register(2, "n", 1, {}, "i2");
  EXPECT_EQ(world.Attempt(AttemptOf(1, 1, 1)).outcome,
            AttemptOutcome::kSuperseded);
  EXPECT_EQ(Orders<StartOrder>(back).at(0).attempt, AttemptOf(1, 1, 2));
}

TEST(NodesTest, SilentNodeIsUnreachableAfterItsLeaseAndSupersededAfterGrace) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Wait(Seconds{14});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
  world.Wait(Seconds{3});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kUnreachable);
  world.Wait(Seconds{27});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kUnreachable);
  world.Wait(Seconds{3});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kQueued);
  EXPECT_THAT(world.ReasonOf(Trial(1, 1, 0)), HasSubstr("agent_lost"));
}

TEST(NodesTest, HeartbeatsKeepWhatTheyNameAndNothingElse) {
  World world;
  world.Register(1, "n", 2);
  world.Submit(MakeSweep(2, 1, 1));
  for (int i = 0; i < 50; ++i) {
    const Outcome outcome = world.Do(Heartbeat{{1}, i, {AttemptOf(1, 1, 1)}});
    EXPECT_EQ(Orders<RenewalOrder>(outcome).at(0).number, i);
    world.Wait(Seconds{1});
  }
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kLeased);
  EXPECT_EQ(world.Attempt(AttemptOf(1, 2, 1)).outcome,
            AttemptOutcome::kSuperseded);
}

TEST(NodesTest, HeartbeatForAnAttemptThatCountsNoMoreGetsAStop) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  const Outcome outcome = world.Do(Heartbeat{{1}, 1, {AttemptOf(1, 1, 9)}});
  EXPECT_EQ(Orders<StopOrder>(outcome).at(0).attempt, AttemptOf(1, 1, 9));
  EXPECT_THAT(Orders<RenewalOrder>(outcome).at(0).attempts, IsEmpty());
}

TEST(NodesTest, SecondAgentOfANameIsRefusedWhenTheFirstIsHeard) {
  World world;
  world.Register(1, "n", 1);
  const Outcome second = world.Register(2, "n", 1, {}, "i2");
  EXPECT_THAT(second.orders, IsEmpty());
  const Outcome beat = world.Do(Heartbeat{{1}, 1, {}});
  const auto closed = Orders<CloseOrder>(beat);
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0].status.code(), absl::StatusCode::kFailedPrecondition);
}

TEST(NodesTest, TheHeirOfAStateFolderGoesOnAtOnceWithWhatIsHeld) {
  World world;
  world.Register(1, "n", 1, {}, "i1");
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1)});
  // The stream of the first, which was killed, still seems to stand.
  NodeRegistered heir;
  heir.session = {2};
  heir.node = "n";
  heir.instance = "i2";
  heir.previous_instance = "i1";
  heir.devices = {{"cpu:0", "cpu", 0}};
  heir.attempts = {{AttemptOf(1, 1, 1), {"cpu:0"}}};
  const Outcome back = world.Do(heir);
  EXPECT_EQ(Orders<CloseOrder>(back).at(0).status.code(),
            absl::StatusCode::kAborted);
  const auto welcome = Orders<WelcomeOrder>(back).at(0);
  ASSERT_THAT(welcome.acknowledged, SizeIs(1));
  EXPECT_EQ(welcome.acknowledged[0].second, 1);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kRunning);
  // The end of the old stream, noticed later, takes nothing from the heir.
  world.Do(NodeLost{{1}});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kRunning);
  EXPECT_EQ(world.Attempt(AttemptOf(1, 1, 1)).outcome, AttemptOutcome::kLive);
}

TEST(NodesTest, SecondAgentOfANameTakesOverWhenTheFirstIsGone) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Register(2, "n", 1, {}, "i2");
  const Outcome lost = world.Do(NodeLost{{1}});
  EXPECT_THAT(Orders<WelcomeOrder>(lost), SizeIs(1));
  EXPECT_EQ(Orders<StartOrder>(lost).at(0).attempt, AttemptOf(1, 1, 2));
}

TEST(NodesTest, DevicesStayTakenUntilTheProcessesAreGone) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1, "a"), "r1");
  world.Submit(MakeSweep(1, 1, 1, "b"), "r2");
  const Outcome cancel = world.Do(CancelTarget{SweepId{1}, "c1", {}});
  EXPECT_THAT(Orders<StopOrder>(cancel), SizeIs(1));
  EXPECT_EQ(world.StateOf(Trial(2, 1, 0)), TrialState::kQueued);
  const Outcome ended = world.End(1, AttemptOf(1, 1, 1));
  EXPECT_EQ(Orders<StartOrder>(ended).at(0).attempt, AttemptOf(2, 1, 1));
}

TEST(NodesTest, LeftoverOfACancelledAttemptHoldsItsDevicesAfterARestart) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1, "a"), "r1");
  world.Submit(MakeSweep(1, 1, 1, "b"), "r2");
  world.Do(NodeLost{{1}});
  world.Do(CancelTarget{SweepId{1}, "c1", {}});
  world.Restart();
  world.Register(2, "n", 1, {{AttemptOf(1, 1, 1), {"cpu:0"}}});
  EXPECT_EQ(world.StateOf(Trial(2, 1, 0)), TrialState::kQueued);
  world.End(2, AttemptOf(1, 1, 1));
  EXPECT_EQ(world.StateOf(Trial(2, 1, 0)), TrialState::kLeased);
}

TEST(NodesTest, RestartedCoordinatorGoesOnWithWhatItsAgentsHold) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1), {StepAt(1, 1)});
  world.Restart();
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kUnreachable);
  world.Register(1, "n", 1, {{AttemptOf(1, 1, 1), {"cpu:0"}}});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kRunning);
  world.Send(1, AttemptOf(1, 1, 1), {ResultOf(2, 0, 0, 1.0)});
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kSucceeded);
}

TEST(NodesTest, AttemptLostAfterItsLastResultHasSucceeded) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, AttemptOf(1, 1, 1), {ResultOf(1, 0, 0, 1.0)});
  world.Restart();
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kActive);
  world.Register(1, "n", 1, {}, "i2");
  EXPECT_EQ(world.Attempt(AttemptOf(1, 1, 1)).outcome,
            AttemptOutcome::kSucceeded);
  EXPECT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
}

}  // namespace
}  // namespace leadline::control
