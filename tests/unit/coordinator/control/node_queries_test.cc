#include "coordinator/control/node_queries.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control_world.h"

namespace leadline::control {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

NodesReport Look(World& world, const std::string& node = "") {
  const Outcome outcome = world.Do(LookAtNodes{node});
  EXPECT_TRUE(outcome.answer.ok()) << outcome.answer.status();
  EXPECT_THAT(outcome.changes, IsEmpty());
  return std::get<NodesReport>(*outcome.answer);
}

NodeNow LookAt(World& world, const std::string& node) {
  return Look(world, node).nodes.at(0);
}

absl::StatusOr<Answer> Clear(World& world, const std::string& node,
                             const std::string& id) {
  return world.Do(ClearNode{node, id, {}}).answer;
}

/// Three crashes of three cohorts on the only slot of node "n".
void Quarantine(World& world) {
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(5, 1, 1));
  for (int64_t cell = 1; cell <= 3; ++cell) {
    world.End(1, AttemptOf(1, cell, 1), FailureKind::kCrash);
  }
  ASSERT_TRUE(world.NodeOf("n").quarantined);
}

TEST(NodeQueriesTest, NodesStandByNameWithWhatTheirAgentsSaid) {
  World world;
  NodeRegistered command;
  command.session = {2};
  command.node = "b";
  command.instance = "i";
  command.agent = {"host", "0.1.0", "abc", 1, 77};
  command.devices = {{"GPU-1", "NVIDIA H200", 5}};
  world.Do(command);
  world.Register(1, "a", 2);
  world.Pass(Seconds{10});
  const NodesReport report = Look(world);
  ASSERT_THAT(report.nodes, SizeIs(2));
  EXPECT_EQ(report.nodes[0].name, "a");
  const NodeNow& b = report.nodes[1];
  EXPECT_EQ(b.state, NodeCondition::kReady);
  EXPECT_EQ(b.reason, "");
  EXPECT_EQ(b.agent.host, "host");
  EXPECT_EQ(b.agent.commit, "abc");
  EXPECT_EQ(b.agent.pid, 77);
  EXPECT_EQ(b.devices.at(0).device.id, "GPU-1");
  EXPECT_FALSE(b.devices.at(0).taken_by);
  EXPECT_EQ(b.connected, Seconds{10});
  EXPECT_EQ(b.silent, Seconds{10});
}

TEST(NodeQueriesTest, WhatRunsHoldsItsDevices) {
  World world;
  world.Register(1, "n", 3);
  world.Submit(MakeSweep(2, 2, 2));
  AttemptStarted started{{1}, AttemptOf(1, 1, 1), "/data", "cpu"};
  started.pid = 4242;
  world.Do(started);
  const NodeNow node = LookAt(world, "n");
  ASSERT_THAT(node.attempts, SizeIs(2));
  EXPECT_EQ(node.attempts[0].key, AttemptOf(1, 1, 1));
  EXPECT_EQ(node.attempts[0].trials, 2);
  EXPECT_EQ(node.attempts[0].first, Trial(1, 1, 0));
  EXPECT_EQ(node.attempts[0].ranks.at(0).pid, 4242);
  EXPECT_EQ(node.attempts[0].started_at, world.now().wall);
  EXPECT_EQ(node.attempts[1].ranks.at(0).pid, 0);
  std::set<std::string> busy;
  for (const DeviceNow& device : node.devices) {
    if (device.taken_by) busy.insert(device.device.id);
  }
  EXPECT_EQ(busy, (std::set<std::string>{"cpu:0", "cpu:1"}));
}

TEST(NodeQueriesTest, NodeThatWentIsAwaitedWhileItsAttemptsLiveThenGone) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Do(NodeLost{{1}});
  NodeNow node = LookAt(world, "n");
  EXPECT_EQ(node.state, NodeCondition::kUnreachable);
  EXPECT_EQ(node.attempts.at(0).state, TrialState::kUnreachable);
  EXPECT_FALSE(node.connected);
  EXPECT_THAT(node.reason, HasSubstr("connection ended"));
  world.Wait(Seconds{60});
  node = LookAt(world, "n");
  EXPECT_EQ(node.state, NodeCondition::kGone);
  ASSERT_TRUE(node.silent);
  EXPECT_GE(*node.silent, Seconds{60});
}

TEST(NodeQueriesTest, NodeWithLiveAttemptsIsShownThoughNotHeardSinceARestart) {
  World world;
  world.Register(1, "n", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Restart();
  const NodesReport report = Look(world);
  ASSERT_THAT(report.nodes, SizeIs(1));
  const NodeNow node = LookAt(world, "n");
  EXPECT_EQ(node.name, "n");
  EXPECT_EQ(node.state, NodeCondition::kUnreachable);
  EXPECT_THAT(node.reason, HasSubstr("not heard since the coordinator began"));
  EXPECT_EQ(node.attempts.at(0).key, AttemptOf(1, 1, 1));
  const auto cleared = Clear(world, "n", "c");
  ASSERT_TRUE(cleared.ok()) << cleared.status();
  EXPECT_EQ(std::get<ClearAnswer>(*cleared).failures, 0);
}

TEST(NodeQueriesTest, ProcessesOfWhatCountsNoMoreAreShownAsEnding) {
  World world;
  world.Register(1, "n", 1, {{AttemptOf(7, 1, 3), {"cpu:0"}}});
  const NodeNow node = LookAt(world, "n");
  EXPECT_FALSE(node.attempts.at(0).state);
  EXPECT_EQ(node.devices.at(0).taken_by, AttemptOf(7, 1, 3));
}

TEST(NodeQueriesTest, QuarantineSaysWhyAlsoOfANodeNotHeardSinceARestart) {
  World world;
  Quarantine(world);
  EXPECT_EQ(LookAt(world, "n").state, NodeCondition::kQuarantined);
  EXPECT_THAT(LookAt(world, "n").reason, HasSubstr("3 failures in a row"));
  world.Restart();
  const NodeNow node = LookAt(world, "n");
  EXPECT_EQ(node.state, NodeCondition::kGone);
  EXPECT_FALSE(node.silent);
  EXPECT_THAT(node.reason, HasSubstr("3 failures in a row"));
}

TEST(NodeQueriesTest, ClearedNodeTakesWorkAtOnceAndForGood) {
  World world;
  Quarantine(world);
  const auto before = LookAt(world, "n").attempts.size();
  const auto answer = Clear(world, "n", "c1");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(std::get<ClearAnswer>(*answer).was_quarantined);
  EXPECT_EQ(before, 0U);
  const NodeNow node = LookAt(world, "n");
  EXPECT_EQ(node.state, NodeCondition::kReady);
  EXPECT_THAT(node.attempts, SizeIs(1));
  world.Restart();
  EXPECT_FALSE(world.control().state().nodes.contains("n") &&
               world.NodeOf("n").quarantined);
}

TEST(NodeQueriesTest, ClearingTwiceUnderOneIdIsDoneOnce) {
  World world;
  Quarantine(world);
  ASSERT_TRUE(Clear(world, "n", "c1").ok());
  const Outcome again = world.Do(ClearNode{"n", "c1", {}});
  EXPECT_THAT(again.changes, IsEmpty());
  EXPECT_TRUE(std::get<ClearAnswer>(*again.answer).was_quarantined);
  EXPECT_FALSE(std::get<ClearAnswer>(*Clear(world, "n", "c2")).was_quarantined);
  EXPECT_TRUE(absl::IsInvalidArgument(Clear(world, "m", "c1").status()));
}

TEST(NodeQueriesTest, NodesNobodyKnowsAreNotFound) {
  World world;
  EXPECT_TRUE(absl::IsNotFound(world.Do(LookAtNodes{"x"}).answer.status()));
  EXPECT_TRUE(absl::IsNotFound(Clear(world, "x", "c").status()));
  EXPECT_THAT(Look(world).nodes, IsEmpty());
}

}  // namespace
}  // namespace leadline::control
