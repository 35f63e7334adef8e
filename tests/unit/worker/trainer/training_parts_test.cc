// Batches, windows of evaluation, and the health of replicas.

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/trainer/batches.h"
#include "worker/trainer/evaluation.h"
#include "worker/trainer/interval_means.h"
#include "worker/trainer/replica_health.h"

namespace leadline::trainer {
namespace {

using testing::ElementsAre;

std::vector<uint16_t> Counting(int64_t size) {
  std::vector<uint16_t> symbols(size);
  for (int64_t i = 0; i < size; ++i) symbols[i] = static_cast<uint16_t>(i);
  return symbols;
}

TEST(BatchesTest, TargetsAreTheSymbolsThatFollow) {
  const std::vector<uint16_t> symbols = Counting(100);
  const Batch batch = Batches(symbols, {3, 4}, 8).Read(0, 0, 5);
  EXPECT_EQ(batch.tokens_RBT.sizes(), (std::vector<int64_t>{2, 5, 8}));
  EXPECT_TRUE(batch.targets_RBT.equal(batch.tokens_RBT + 1));
}

TEST(BatchesTest, PartsOfTheBatchAreTheSameSequences) {
  const std::vector<uint16_t> symbols = Counting(1000);
  const Batches batches(symbols, {3, 4}, 8);
  const auto whole = batches.Read(7, 0, 6).tokens_RBT;
  EXPECT_TRUE(batches.Read(7, 0, 2).tokens_RBT.equal(whole.slice(1, 0, 2)));
  EXPECT_TRUE(batches.Read(7, 2, 4).tokens_RBT.equal(whole.slice(1, 2, 6)));
}

TEST(BatchesTest, SmallestTextHasOneWindow) {
  const std::vector<uint16_t> symbols = Counting(9);
  EXPECT_THAT(Batches(symbols, {5}, 8).Starts(0, 0, 3), ElementsAre(0, 0, 0));
  EXPECT_THROW(Batches(symbols, {5}, 9), c10::Error);
}

TEST(FullWindowsTest, ScoreEachSymbolButTheFirstOnce) {
  for (const int64_t stride : {1, 3, 7, 8}) {
    for (int64_t size = 2; size < 40; ++size) {
      std::vector<int> scored(size, 0);
      for (const Window& window : FullWindows(size, 8, stride)) {
        EXPECT_LE(window.length, 8);
        for (int64_t t = window.first_scored; t < window.length; ++t) {
          ++scored[window.start + t + 1];
        }
      }
      EXPECT_EQ(scored[0], 0);
      for (int64_t i = 1; i < size; ++i) EXPECT_EQ(scored[i], 1);
    }
  }
}

TEST(FullWindowsTest, OverlappingWindowsScoreTheirLastSymbols) {
  EXPECT_THAT(FullWindows(20, 8, 4),
              ElementsAre(Window{0, 8, 0}, Window{4, 8, 4}, Window{8, 8, 4},
                          Window{12, 7, 4}));
}

TEST(FixedWindowsTest, SpreadFromTheFirstToTheLastStart) {
  EXPECT_THAT(FixedWindows(100, 9, 4),
              ElementsAre(Window{0, 9, 0}, Window{30, 9, 0}, Window{60, 9, 0},
                          Window{90, 9, 0}));
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

torch::Tensor Of(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64);
}

TEST(ReplicaHealthTest, EachReplicaEndsOnceForItsOwnReason) {
  ReplicaHealth health({10, 11, 12, 13}, 5.0, torch::kCPU);
  health.Judge(Of({1, kNan, 1, 1}), Of({1, kNan, 1, 1}), 1);
  health.Judge(Of({1, kNan, 1, 6}), Of({1, 1, kInf, 1}), 2);
  const auto ends = health.Read();
  ASSERT_EQ(ends.size(), 3U);
  EXPECT_EQ(ends[0].replica, 1);
  EXPECT_EQ(ends[0].seed, 11);
  EXPECT_EQ(ends[0].step, 1);
  EXPECT_EQ(ends[0].reason, "the loss is not finite");
  EXPECT_EQ(ends[1].reason, "the gradient norm is not finite");
  EXPECT_EQ(ends[1].step, 2);
  EXPECT_EQ(ends[2].reason, "the loss is above divergence_loss");
  EXPECT_TRUE(
      health.alive_R().equal(torch::tensor({true, false, false, false})));
  EXPECT_TRUE(health.Read().empty());
  EXPECT_TRUE(health.AnyAlive());
  EXPECT_TRUE(health.AnyDiverged());
}

TEST(ReplicaHealthTest, DroppedReplicaHasNotDiverged) {
  ReplicaHealth health({10, 11}, {}, torch::kCPU);
  health.Drop(1, 4);
  health.Drop(1, 5);
  health.Drop(7, 5);
  health.Judge(Of({1, kNan}), Of({1, 1}), 6);
  const auto ends = health.Read();
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].state, ReplicaState::kDropped);
  EXPECT_EQ(ends[0].step, 4);
  EXPECT_FALSE(health.AnyDiverged());
}

TEST(IntervalMeansTest, AreMeansOverTheStepsSinceTheLast) {
  IntervalMeans means;
  means.Add(Of({1, 2}), Of({3, 4}), Of({1, 1}));
  means.Add(Of({3, kNan}), Of({5, 6}), Of({1, 0}));
  const IntervalMeans::Means first = means.Take();
  EXPECT_EQ(first.steps, 2);
  EXPECT_EQ(first.loss[0], 2);
  EXPECT_TRUE(std::isnan(first.loss[1]));
  EXPECT_THAT(first.norm, ElementsAre(4, 5));
  EXPECT_THAT(first.factor, ElementsAre(1, 0.5));
  means.Add(Of({8, 8}), Of({1, 1}), Of({1, 1}));
  EXPECT_THAT(means.Take().loss, ElementsAre(8, 8));
}

}  // namespace
}  // namespace leadline::trainer
