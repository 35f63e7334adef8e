#include "coordinator/control/overview.h"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control_world.h"

namespace leadline::control {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr AttemptKey kFirst{{{{1}, 1}, 0}, 1};

Overview Look(World& world) {
  return Count(world.control().state(), world.now().steady);
}

TrainerRecord TokensAt(int64_t sequence, int64_t step, int64_t tokens,
                       int64_t replicas = 1) {
  TrainerRecord record = StepAt(sequence, step, replicas);
  std::get<TrainerStep>(record.body).tokens = tokens;
  return record;
}

TEST(OverviewTest, CountsNodesDevicesAndTrialsByState) {
  World world;
  world.Register(1, "a", 2);
  world.Register(2, "b", 1);
  world.Submit(MakeSweep(1, 2, 2));
  Overview overview = Look(world);
  EXPECT_THAT(overview.nodes, ElementsAre(2, 0, 0));
  EXPECT_THAT(overview.devices, ElementsAre(2, 1, 0, 0));
  world.Do(NodeLost{{2}});
  overview = Look(world);
  EXPECT_THAT(overview.nodes, ElementsAre(1, 0, 1));
  EXPECT_EQ(std::accumulate(overview.devices.begin(), overview.devices.end(),
                            int64_t{0}),
            3);
  EXPECT_EQ(overview.devices.back(), 1) << "out of reach";
  ASSERT_EQ(overview.sweeps.size(), 1u);
  EXPECT_EQ(overview.sweeps[0].id, SweepId{1});
  EXPECT_EQ(std::accumulate(overview.sweeps[0].trials.begin(),
                            overview.sweeps[0].trials.end(), int64_t{0}),
            2);
}

TEST(OverviewTest, OldestWaitIsThatOfTheCohortThatWaitsLongest) {
  World world;
  world.Register(1, "a", 1);
  EXPECT_EQ(Look(world).oldest_wait, Seconds{0});
  world.Submit(MakeSweep(2, 1, 1));
  world.Idle(Seconds{30});
  EXPECT_NEAR(Look(world).oldest_wait.count(), 30, 2);
  world.Pause({1});
  EXPECT_EQ(Look(world).oldest_wait, Seconds{0}) << "it waits for nobody";
  world.Resume({1});
  world.Send(1, kFirst, {ResultOf(1, 0, 0, 1.0)});
  world.End(1, kFirst);
  EXPECT_EQ(Look(world).oldest_wait, Seconds{0}) << "the second runs";
}

TEST(TallyTest, TokensOfAllReplicasCountOnceWhereTheyWereTrained) {
  World world;
  world.Register(1, "a", 1);
  world.Submit(MakeSweep(1, 2, 2));
  EXPECT_THAT(world.Send(1, kFirst, {TokensAt(1, 2, 200, 2)}).tally.tokens,
              UnorderedElementsAre(Pair("a", 400)));
  EXPECT_THAT(world.Send(1, kFirst, {TokensAt(2, 5, 500, 2)}).tally.tokens,
              UnorderedElementsAre(Pair("a", 600)));
  EXPECT_TRUE(
      world.Send(1, kFirst, {TokensAt(2, 5, 500, 2)}).tally.tokens.empty());
}

TEST(TallyTest, WhereALaterAttemptWentOnFromIsNotGuessed) {
  World world;
  world.Register(1, "a", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, kFirst, {TokensAt(1, 4, 400)});
  world.End(1, kFirst, FailureKind::kCrash);
  world.IdleUntilLive(kFirst.cohort, Seconds{600});
  const AttemptKey second{kFirst.cohort, 2};
  EXPECT_TRUE(
      world.Send(1, second, {TokensAt(1, 5, 500)}).tally.tokens.empty());
  EXPECT_THAT(world.Send(1, second, {TokensAt(2, 7, 700)}).tally.tokens,
              UnorderedElementsAre(Pair("a", 200)));
}

TEST(TallyTest, StepsThatAreTrainedAgainMakeOneCurve) {
  World world;
  world.Register(1, "a", 1);
  world.Submit(MakeSweep(1, 1, 1));
  world.Send(1, kFirst, {StepAt(1, 2), StepAt(2, 4), StepAt(3, 6)});
  world.End(1, kFirst, FailureKind::kCrash);
  world.IdleUntilLive(kFirst.cohort, Seconds{600});
  // From its checkpoint at step 3 on.
  TrainerRecord again = StepAt(1, 4);
  std::get<TrainerStep>(again.body).train_loss = {0.5};
  const AttemptKey second{kFirst.cohort, 2};
  world.Send(1, second, {again, StepAt(2, 6), StepAt(3, 8)});
  const TrialId trial{{{1}, 1}, 0};
  const auto curve = *world.reader().Curve(trial, "train_loss", -1, 99);
  std::vector<int64_t> steps;
  for (const storage::Point& point : curve) steps.push_back(point.step);
  EXPECT_THAT(steps, ElementsAre(2, 4, 6, 8));
  EXPECT_EQ(curve[1].value, 0.5);
  EXPECT_EQ(world.store().CountPoints().overwritten, 4)
      << "loss and learning rate of two steps";
}

TEST(TallyTest, RepeatedLateAndDroppedPointsEachMoveTheirCounter) {
  World world;
  world.Register(1, "a", 1);
  world.Submit(MakeSweep(1, 2, 2));
  Tally tally = world.Send(1, kFirst, {StepAt(1, 1, 2)}).tally;
  EXPECT_EQ(tally.repeated_points + tally.late_points + tally.dropped_points,
            0);
  tally = world.Send(1, kFirst, {StepAt(1, 1, 2)}).tally;
  EXPECT_EQ(tally.repeated_points, 4) << "two losses, two learning rates";
  world.Send(1, kFirst, {DivergenceOf(2, 1, 1)});
  tally = world.Send(1, kFirst, {StepAt(3, 2, 2)}).tally;
  EXPECT_EQ(tally.dropped_points, 2) << "of the replica that has ended";
  world.Do(NodeLost{{1}});
  world.Wait(Seconds{50});
  world.Register(2, "a", 1, {{kFirst, {}}});
  tally = world.Send(2, kFirst, {StepAt(4, 3, 2)}).tally;
  EXPECT_EQ(tally.late_points, 4);
  EXPECT_EQ(tally.dropped_points, 0);
  for (int64_t k = 5; k < 2100; ++k) {
    tally = world.Send(2, kFirst, {StepAt(k, k, 2)}).tally;
  }
  EXPECT_EQ(tally.late_points, 0);
  EXPECT_EQ(tally.dropped_points, 4) << "more than is kept";
}

}  // namespace
}  // namespace leadline::control
