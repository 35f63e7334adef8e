#include "coordinator/scheduler/schedule.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/plain_schedule.h"

namespace leadline::scheduler::plain {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Plan Schedule(const Snapshot& snapshot) { return InLines(snapshot); }

CohortId Cohort(int64_t sweep, int64_t cell) { return {{{sweep}, cell}, 0}; }

/// All of its ranks on one node.
Placement On(const CohortId& cohort, const std::string& node,
             std::vector<std::string> devices, int64_t ranks = 1) {
  return {cohort, {{node, std::move(devices), ranks}}};
}

NodeView CpuNode(const std::string& name, int64_t free, int64_t total) {
  DeviceGroup group{kCpuType, {}, total};
  for (int64_t i = 0; i < free; ++i) {
    group.free.push_back("cpu:" + std::to_string(i));
  }
  NodeView node;
  node.name = name;
  node.groups = {group};
  return node;
}

NodeView GpuNode(const std::string& name, int64_t free, int64_t total) {
  NodeView node = CpuNode(name, 4, 4);
  DeviceGroup group{"NVIDIA H200", {}, total};
  for (int64_t i = 0; i < free; ++i) {
    group.free.push_back("GPU-" + name + std::to_string(i));
  }
  node.groups.push_back(group);
  return node;
}

TEST(ScheduleTest, LargeCohortWaitsWhileSmallOneOvertakes) {
  const Plan plan =
      Schedule({{CpuNode("a", 2, 4)},
                {{Cohort(1, 1), 0, 1, 3}, {Cohort(1, 2), 0, 1, 1}},
                {}});
  EXPECT_THAT(plan.placements, ElementsAre(On(Cohort(1, 2), "a", {"cpu:0"})));
  ASSERT_THAT(plan.deferrals, SizeIs(1));
  EXPECT_EQ(plan.deferrals[0].reason,
            "waits for 3 CPU slots on one node; 1 is free on node a");
  EXPECT_FALSE(plan.deferrals[0].infeasible);
}

TEST(ScheduleTest, TakesTheNodeItLeavesFullest) {
  const Plan plan = Schedule({{CpuNode("a", 4, 4), CpuNode("b", 2, 4)},
                              {{Cohort(1, 1), 0, 1, 2}},
                              {}});
  EXPECT_EQ(plan.placements.at(0).parts.at(0).node, "b");
}

TEST(ScheduleTest, HigherPriorityGoesFirst) {
  const Plan plan =
      Schedule({{CpuNode("a", 1, 1)},
                {{Cohort(1, 1), 0, 1, 1}, {Cohort(2, 1), 5, 1, 1}},
                {}});
  EXPECT_EQ(plan.placements.at(0).cohort, Cohort(2, 1));
}

TEST(ScheduleTest, ParallelLimitHoldsWithinOnePlan) {
  const Plan plan = Schedule({{CpuNode("a", 4, 4)},
                              {{Cohort(1, 1), 0, 1, 1},
                               {Cohort(1, 2), 0, 1, 1},
                               {Cohort(2, 1), 0, 1, 1}},
                              {{SweepId{1}, 1, 1}}});
  EXPECT_THAT(plan.placements, SizeIs(2));
  EXPECT_THAT(plan.deferrals.at(0).reason, HasSubstr("limits.parallel"));
}

TEST(ScheduleTest, BusyAcceleratorsAreWaitedForAndCpuSlotsLeftAlone) {
  const Plan plan =
      Schedule({{GpuNode("a", 0, 1)}, {{Cohort(1, 1), 0, 1, 1}}, {}});
  EXPECT_THAT(plan.placements, IsEmpty());
  EXPECT_FALSE(plan.deferrals.at(0).infeasible);
}

TEST(ScheduleTest, WithoutAgentsSaysSo) {
  const Plan plan = Schedule({{}, {{Cohort(1, 1), 0, 1, 1}}, {}});
  EXPECT_EQ(plan.deferrals.at(0).reason, "no agent is connected");
  EXPECT_TRUE(plan.deferrals.at(0).infeasible);
}

TEST(ScheduleTest, CohortLargerThanAnyNodeIsInfeasible) {
  const Plan plan =
      Schedule({{CpuNode("a", 2, 2)}, {{Cohort(1, 1), 0, 1, 4}}, {}});
  EXPECT_TRUE(plan.deferrals.at(0).infeasible);
  EXPECT_THAT(plan.deferrals.at(0).reason, HasSubstr("the largest has"));
}

NodeView Closed(NodeView node, bool takes_canary) {
  node.closed = "node " + node.name + " is quarantined";
  node.takes_canary = takes_canary;
  return node;
}

TEST(ScheduleTest, ClosedNodeGetsNothingAndIsTheReason) {
  const Plan plan = Schedule(
      {{Closed(CpuNode("a", 4, 4), false)}, {{Cohort(1, 1), 0, 1, 1}}, {}});
  EXPECT_THAT(plan.placements, IsEmpty());
  EXPECT_EQ(plan.deferrals.at(0).reason, "node a is quarantined");
  EXPECT_FALSE(plan.deferrals.at(0).infeasible);
}

TEST(ScheduleTest, ClosedNodeIsNamedBesideOnesThatAreBusy) {
  const Plan plan =
      Schedule({{Closed(CpuNode("a", 4, 4), false), CpuNode("b", 0, 4)},
                {{Cohort(1, 1), 0, 1, 1}},
                {}});
  EXPECT_EQ(plan.deferrals.at(0).reason,
            "waits for 1 CPU slot on one node; node a is quarantined");
}

TEST(ScheduleTest, CanaryIsOneCohortAndOnlyWhereNoOtherNodeIsFree) {
  const Plan plan =
      Schedule({{Closed(CpuNode("a", 4, 4), true), CpuNode("b", 1, 4)},
                {{Cohort(1, 1), 0, 1, 1},
                 {Cohort(1, 2), 0, 1, 1},
                 {Cohort(1, 3), 0, 1, 1}},
                {}});
  EXPECT_THAT(plan.placements, ElementsAre(On(Cohort(1, 1), "b", {"cpu:0"}),
                                           On(Cohort(1, 2), "a", {"cpu:0"})));
  EXPECT_THAT(plan.deferrals, SizeIs(1));
}

TEST(ScheduleTest, NodeToAvoidIsTakenWhereNoOtherIsFree) {
  CohortRequest request{Cohort(1, 1), 0, 1, 1};
  request.avoid = {"a"};
  EXPECT_EQ(Schedule({{CpuNode("a", 1, 4), CpuNode("b", 4, 4)}, {request}, {}})
                .placements.at(0)
                .parts.at(0)
                .node,
            "b");
  EXPECT_EQ(Schedule({{CpuNode("a", 1, 4), CpuNode("b", 0, 4)}, {request}, {}})
                .placements.at(0)
                .parts.at(0)
                .node,
            "a");
}

TEST(ScheduleTest, NodeThatWillNotDoIsNeverTaken) {
  CohortRequest request{Cohort(1, 1), 0, 1, 1};
  request.never = {"a"};
  const Plan plan = Schedule({{CpuNode("a", 1, 4)}, {request}, {}});
  EXPECT_EQ(plan.deferrals.at(0).reason,
            "failed on node a and waits for another");
  EXPECT_TRUE(plan.deferrals.at(0).infeasible);
}

TEST(ScheduleTest, MemoryIsThatOfAllDevicesTogether) {
  NodeView node = CpuNode("a", 4, 4);
  node.groups[0].memory_bytes = int64_t{1} << 30;
  CohortRequest request{Cohort(1, 1), 0, 1, 2};
  request.more_memory_than = 2 * (int64_t{1} << 30) - 1;
  EXPECT_THAT(Schedule({{node}, {request}, {}}).placements, SizeIs(1));
  ++request.more_memory_than;
  const Plan plan = Schedule({{node}, {request}, {}});
  EXPECT_TRUE(plan.deferrals.at(0).infeasible);
  EXPECT_THAT(plan.deferrals.at(0).reason, HasSubstr("ran out of 2.00 GiB"));
}

TEST(ScheduleTest, RanksThatFitOnOneNodeWaitForIt) {
  const Plan plan = Schedule({{CpuNode("a", 2, 4), CpuNode("b", 3, 3)},
                              {{Cohort(1, 1), 0, 4, 1}},
                              {}});
  EXPECT_THAT(plan.placements, IsEmpty());
  EXPECT_EQ(plan.deferrals.at(0).reason,
            "waits for 4 CPU slots on one node; 2 are free on node a");
}

TEST(ScheduleTest, RanksThatFitOnNoNodeAreSpreadOverAsFewAsWillDo) {
  const Plan plan =
      Schedule({{CpuNode("a", 1, 2), CpuNode("b", 3, 3), CpuNode("c", 2, 3)},
                {{Cohort(1, 1), 0, 5, 1}},
                {}});
  EXPECT_THAT(plan.placements,
              ElementsAre(Placement{Cohort(1, 1),
                                    {{"b", {"cpu:0", "cpu:1", "cpu:2"}, 3},
                                     {"c", {"cpu:0", "cpu:1"}, 2}}}));
}

TEST(ScheduleTest, ThreadsOfARankStayOnOneNode) {
  const std::vector<NodeView> nodes = {CpuNode("a", 3, 3), CpuNode("b", 3, 3)};
  EXPECT_THAT(Schedule({nodes, {{Cohort(1, 1), 0, 2, 2}}, {}}).placements,
              ElementsAre(Placement{Cohort(1, 1),
                                    {{"a", {"cpu:0", "cpu:1"}, 1},
                                     {"b", {"cpu:0", "cpu:1"}, 1}}}));
  const Plan plan = Schedule({nodes, {{Cohort(1, 1), 0, 3, 2}}, {}});
  EXPECT_TRUE(plan.deferrals.at(0).infeasible);
  EXPECT_EQ(plan.deferrals.at(0).reason,
            "needs 3 devices or 6 CPU slots at once; all nodes together have "
            "0 devices of one type and 6 CPU slots");
}

TEST(ScheduleTest, RanksGetAllOfTheirDevicesOrNone) {
  const Plan plan = Schedule({{GpuNode("a", 1, 2), GpuNode("b", 2, 2)},
                              {{Cohort(1, 1), 0, 4, 1}},
                              {}});
  EXPECT_THAT(plan.placements, IsEmpty());
  EXPECT_EQ(plan.deferrals.at(0).reason,
            "needs 4 devices at once; 3 are free on 2 nodes");
  EXPECT_FALSE(plan.deferrals.at(0).infeasible);
}

TEST(ScheduleTest, RanksAreOnAcceleratorsOfOneType) {
  NodeView other = GpuNode("b", 2, 2);
  other.groups[1].type = "NVIDIA L4";
  EXPECT_THAT(
      Schedule({{GpuNode("a", 2, 2), other}, {{Cohort(1, 1), 0, 3, 1}}, {}})
          .placements,
      ElementsAre(On(Cohort(1, 1), "a", {"cpu:0", "cpu:1", "cpu:2"}, 3)));
}

TEST(ScheduleTest, AgentsThatKnowNoRanksAreLeftOut) {
  NodeView old = CpuNode("b", 4, 4);
  old.takes_gangs = false;
  const Plan plan =
      Schedule({{CpuNode("a", 1, 1), old},
                {{Cohort(1, 1), 0, 2, 1}, {Cohort(1, 2), 0, 1, 4}},
                {}});
  EXPECT_THAT(plan.placements, SizeIs(1)) << "of one rank they know";
  EXPECT_THAT(plan.deferrals.at(0).reason,
              HasSubstr("1 node left out whose agents are too old"));
}

TEST(ScheduleTest, RanksMayGoToAClosedNodeWhereTheyFitNowhereElse) {
  const Plan plan =
      Schedule({{Closed(CpuNode("a", 2, 2), true), CpuNode("b", 2, 2)},
                {{Cohort(1, 1), 0, 3, 1}},
                {}});
  EXPECT_THAT(plan.placements, SizeIs(1));
  EXPECT_EQ(Schedule({{Closed(CpuNode("a", 2, 2), false), CpuNode("b", 2, 2)},
                      {{Cohort(1, 1), 0, 3, 1}},
                      {}})
                .deferrals.at(0)
                .reason,
            "needs 3 CPU slots at once; 2 are free on 1 node; node a is "
            "quarantined");
}

Snapshot RandomSnapshot(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % n); };
  Snapshot snapshot;
  for (int i = below(6); i > 0; --i) {
    const int total = 1 + below(8);
    const std::string name = "n" + std::to_string(i);
    snapshot.nodes.push_back(below(2) ? CpuNode(name, below(total + 1), total)
                                      : GpuNode(name, below(total + 1), total));
    NodeView& node = snapshot.nodes.back();
    if (below(4) == 0) node = Closed(node, below(2) == 0);
    for (DeviceGroup& group : node.groups) group.memory_bytes = below(4);
    node.takes_gangs = below(5) > 0;
  }
  for (int i = below(30); i > 0; --i) {
    snapshot.queue.push_back(
        {Cohort(1 + i % 3, i), i % 3 - 1, 1 + below(8), 1 + below(3)});
    CohortRequest& request = snapshot.queue.back();
    if (below(4) == 0) request.more_memory_than = below(8);
    if (below(4) == 0) request.avoid = {"n1", "n2"};
    if (below(4) == 0) request.never = {"n3"};
  }
  if (below(2)) snapshot.limits.push_back({SweepId{2}, 3, below(4)});
  return snapshot;
}

std::string TypeOf(const NodeView& node, const std::string& device) {
  for (const DeviceGroup& group : node.groups) {
    if (std::ranges::find(group.free, device) != group.free.end()) {
      return group.type;
    }
  }
  return "none";
}

/// All ranks or none; of one type; on several nodes only where no single one
/// could hold them.
void CheckParts(const Snapshot& snapshot, const Placement& placement,
                const std::vector<std::string>& could) {
  const CohortRequest& request =
      *std::ranges::find(snapshot.queue, placement.cohort, &CohortRequest::id);
  int64_t ranks = 0;
  std::set<std::string> types;
  std::vector<std::string> names;
  for (const Part& part : placement.parts) {
    const NodeView& node =
        *std::ranges::find(snapshot.nodes, part.node, &NodeView::name);
    names.push_back(part.node);
    ranks += part.ranks;
    for (const std::string& device : part.devices) {
      types.insert(TypeOf(node, device));
    }
    const int64_t each = types.contains(kCpuType) ? request.threads : 1;
    EXPECT_EQ(std::ssize(part.devices), part.ranks * each);
    EXPECT_THAT(could, Contains(part.node));
    EXPECT_TRUE(request.ranks == 1 || node.takes_gangs);
  }
  EXPECT_EQ(ranks, request.ranks);
  EXPECT_THAT(types, SizeIs(1));
  EXPECT_TRUE(std::ranges::is_sorted(names));
  if (placement.parts.size() == 1) return;
  EXPECT_FALSE(types.contains("none"));
  for (const NodeView& node : snapshot.nodes) {
    if (!node.takes_gangs || request.more_memory_than > 0 ||
        std::ranges::find(request.never, node.name) != request.never.end()) {
      continue;
    }
    for (const DeviceGroup& group : node.groups) {
      const int64_t each = group.type == kCpuType ? request.threads : 1;
      EXPECT_TRUE(!types.contains(group.type) ||
                  group.total < request.ranks * each)
          << node.name << " could have held all ranks";
    }
  }
}

TEST(SchedulePropertyTest, HoldsOnRandomClusters) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const Snapshot snapshot = RandomSnapshot(random);
    const Plan plan = Schedule(snapshot);

    std::map<CohortId, std::vector<std::string>> could;
    for (const CohortRequest& request : snapshot.queue) {
      could[request.id] = WhoCouldHold(snapshot.nodes, request.Demand());
    }
    std::multiset<CohortId> answered;
    std::set<std::pair<std::string, std::string>> given;
    std::map<SweepId, int64_t> started;
    std::set<std::string> canaries;
    for (const Placement& placement : plan.placements) {
      answered.insert(placement.cohort);
      ++started[placement.cohort.cell.sweep];
      CheckParts(snapshot, placement, could[placement.cohort]);
      for (const Part& part : placement.parts) {
        const NodeView& node =
            *std::ranges::find(snapshot.nodes, part.node, &NodeView::name);
        if (!node.closed.empty()) {
          EXPECT_TRUE(node.takes_canary);
          EXPECT_TRUE(canaries.insert(node.name).second);
        }
        for (const std::string& device : part.devices) {
          EXPECT_TRUE(given.emplace(part.node, device).second)
              << "a device was given twice";
        }
      }
    }
    for (const Deferral& deferral : plan.deferrals) {
      answered.insert(deferral.cohort);
      EXPECT_FALSE(deferral.reason.empty());
      if (deferral.infeasible) {
        EXPECT_THAT(could[deferral.cohort], IsEmpty());
      }
    }
    std::multiset<CohortId> asked;
    for (const CohortRequest& request : snapshot.queue)
      asked.insert(request.id);
    EXPECT_EQ(answered, asked);
    for (const SweepLimit& limit : snapshot.limits) {
      EXPECT_LE(started[limit.sweep], limit.left);
    }

    Snapshot shuffled = snapshot;
    std::shuffle(shuffled.nodes.begin(), shuffled.nodes.end(), random);
    std::shuffle(shuffled.queue.begin(), shuffled.queue.end(), random);
    EXPECT_EQ(Schedule(shuffled), plan);
  }
}

TEST(SchedulePropertyTest, LinesAreServedAsIfEachCohortAskedInTurn) {
  std::mt19937 random(11);
  for (int round = 0; round < 5000; ++round) {
    const Snapshot snapshot = RandomSnapshot(random);
    const Plan plain = OneByOne(snapshot);
    const Plan plan = InLines(snapshot);
    ASSERT_EQ(plan.placements, plain.placements) << "round " << round;
    ASSERT_EQ(plan.deferrals, plain.deferrals) << "round " << round;
  }
}

int64_t LooksAt(int64_t cohorts) {
  std::vector<CohortRequest> queue;
  for (int64_t i = 1; i <= cohorts; ++i) {
    queue.push_back({Cohort(1 + i % 3, i), 0, 1, 1 + i % 4});
  }
  const Lines lines(queue);
  const std::vector<NodeView> nodes = {CpuNode("a", 4, 8), CpuNode("b", 2, 8)};
  return scheduler::Schedule({nodes, lines.List(), {}}).looked_at;
}

TEST(SchedulePropertyTest, ARoundLooksAtAsManyHoweverManyWait) {
  EXPECT_EQ(LooksAt(10'000), LooksAt(100));
  EXPECT_LT(LooksAt(100), 40);
}

}  // namespace
}  // namespace leadline::scheduler::plain
