// Ranks heed the same requests after the same step.

#include "worker/trainer/agreement.h"

#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/worker/trainer/rank_world.h"

namespace leadline::trainer {
namespace {

using collective::Communicator;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// What is asked of a rank before a step.
struct Ask {
  int64_t rank = 0;
  int64_t step = 0;
  std::optional<StopRequest> stop{};
  std::optional<int64_t> drop{};
  bool checkpoint = false;
};

/// What a rank has done.
struct Course {
  int64_t steps = 0;
  std::vector<int64_t> drops;        // step and replica, in turn
  std::vector<int64_t> checkpoints;  // steps they followed
  std::optional<StopRequest> stop;
};

constexpr int64_t kSteps = 12;
constexpr int64_t kReplicas = 3;

Course Train(Communicator& communicator, const std::vector<Ask>& asks) {
  RunControl control;
  Agreement agreement(communicator, control, kReplicas);
  Course course;
  try {
    for (int64_t step = 0; step < kSteps; ++step) {
      bool wants = false;
      for (const Ask& ask : asks) {
        if (ask.rank != communicator.rank() || ask.step != step) continue;
        if (ask.stop) control.Stop(*ask.stop);
        if (ask.drop) control.DropReplica(*ask.drop);
        wants = wants || ask.checkpoint;
      }
      communicator.SetStep(step);
      agreement.BeforeStep(wants);
      ++course.steps;
      if (agreement.CheckpointIsDue()) course.checkpoints.push_back(step);
      for (const int64_t replica : agreement.TakeDrops()) {
        course.drops.insert(course.drops.end(), {step, replica});
      }
    }
  } catch (const Stopped& stopped) {
    course.stop = stopped.request;
  }
  communicator.Barrier();
  return course;
}

std::vector<Course> TrainOnRanks(int64_t ranks, const std::vector<Ask>& asks) {
  std::vector<Course> courses(static_cast<size_t>(ranks));
  const auto errors = OnRanks(ranks, [&](Communicator& communicator) {
    courses[static_cast<size_t>(communicator.rank())] =
        Train(communicator, asks);
  });
  EXPECT_THAT(errors, Each(""));
  return courses;
}

TEST(Agreement, AllStopAfterTheSameStepAndTheOneAskedKeepsItsWords) {
  const auto courses =
      TrainOnRanks(3, {{.rank = 1,
                        .step = 4,
                        .stop = StopRequest{.outcome = AttemptOutcome::kFailed,
                                            .kind = FailureKind::kDisk,
                                            .message = "no room for events"}}});
  for (const Course& course : courses) {
    EXPECT_EQ(course.steps, courses[0].steps);
    ASSERT_TRUE(course.stop.has_value());
    EXPECT_EQ(course.stop->outcome, AttemptOutcome::kFailed);
    EXPECT_EQ(course.stop->kind, FailureKind::kDisk);
  }
  EXPECT_LT(courses[0].steps, kSteps);
  EXPECT_EQ(courses[1].stop->message, "no room for events");
  EXPECT_EQ(courses[0].stop->message, "rank 1 was asked to stop: disk");
  EXPECT_EQ(courses[2].stop->message, courses[0].stop->message);
}

TEST(Agreement, AStopBeforeTheFirstStepIsHeededByAll) {
  const auto courses =
      TrainOnRanks(2, {{.rank = 0, .step = 0, .stop = StopRequest{}}});
  for (const Course& course : courses) {
    EXPECT_EQ(course.steps, 0);
    EXPECT_TRUE(course.stop.has_value());
  }
}

TEST(Agreement, ADropOnOneIsADropOnAllAndStrangersAreLeftOut) {
  const auto courses = TrainOnRanks(2, {{.rank = 1, .step = 3, .drop = 2},
                                        {.rank = 0, .step = 5, .drop = 7},
                                        {.rank = 0, .step = 6, .drop = -1}});
  EXPECT_THAT(courses[0].drops, ElementsAre(3, 2));
  EXPECT_EQ(courses[1].drops, courses[0].drops);
  EXPECT_FALSE(courses[0].stop.has_value());
}

TEST(Agreement, ACheckpointThatOneWantsIsDueOnAllOnce) {
  const auto courses =
      TrainOnRanks(2, {{.rank = 0, .step = 7, .checkpoint = true}});
  EXPECT_THAT(courses[0].checkpoints, ElementsAre(7));
  EXPECT_EQ(courses[1].checkpoints, courses[0].checkpoints);
}

TEST(Agreement, WithNothingAskedNothingIsDone) {
  for (const Course& course : TrainOnRanks(4, {})) {
    EXPECT_EQ(course.steps, kSteps);
    EXPECT_THAT(course.checkpoints, IsEmpty());
    EXPECT_FALSE(course.stop.has_value());
  }
}

TEST(AgreementProperty, WhateverIsAskedOfWhomAllDoTheSame) {
  std::mt19937 draw(7);
  for (int round = 0; round < 40; ++round) {
    const auto ranks = static_cast<int64_t>(2 + draw() % 3);
    std::vector<Ask> asks(draw() % 5);
    for (Ask& ask : asks) {
      ask.rank = static_cast<int64_t>(draw() % static_cast<uint64_t>(ranks));
      ask.step = static_cast<int64_t>(draw() % kSteps);
      const uint64_t what = draw() % 3;
      if (what == 0) {
        ask.stop = StopRequest{.outcome = draw() % 2 == 0
                                              ? AttemptOutcome::kCancelled
                                              : AttemptOutcome::kPreempted};
      }
      if (what == 1) ask.drop = static_cast<int64_t>(draw() % kReplicas);
      ask.checkpoint = what == 2;
    }
    const auto courses = TrainOnRanks(ranks, asks);
    for (const Course& course : courses) {
      EXPECT_EQ(course.steps, courses[0].steps) << round;
      EXPECT_EQ(course.drops, courses[0].drops) << round;
      EXPECT_EQ(course.checkpoints, courses[0].checkpoints) << round;
      ASSERT_EQ(course.stop.has_value(), courses[0].stop.has_value()) << round;
    }
  }
}

}  // namespace
}  // namespace leadline::trainer
