#include "coordinator/metrics/measured_store.h"

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include "page.h"
#include "tests/support/memory_store_behind.h"
#include "tests/support/store_world.h"

namespace leadline::metrics {
namespace {

using test::Attempt;
using test::Trial;

/// Commits take a second of a clock that only they move.
class SlowStore final : public test::MemoryStoreBehind {
 public:
  absl::Status Commit(std::span<const storage::Change> changes) override {
    now += std::chrono::seconds(1);
    if (!refusal.ok()) return refusal;
    return MemoryStoreBehind::Commit(changes);
  }

  absl::Status refusal;
  control::SteadyTime now{};
};

class MeasuredStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(test::CommitOne(store_, test::MakeSweep(1, 1, 1)).ok());
    ASSERT_TRUE(test::Run(store_, Attempt(1, 1, 1), {Trial(1, 1, 0)}).ok());
  }

  absl::Status AddPoint(int64_t step, double value) {
    return test::CommitOne(
        store_, storage::AddPoints{Attempt(1, 1, 1),
                                   {{Trial(1, 1, 0), "loss", step, value}}});
  }

  std::map<std::string, double> Series() {
    return SeriesOf(
        prometheus::TextSerializer().Serialize(counters_.Collect()));
  }

  Counters counters_{{}};
  SlowStore inner_;
  MeasuredStore store_{inner_, counters_, [this] { return inner_.now; }};
};

TEST_F(MeasuredStoreTest, CommitsAreTimed) {
  const double before = Series()["leadline_store_commit_seconds_sum"];
  ASSERT_TRUE(AddPoint(1, 1).ok());
  EXPECT_EQ(Series()["leadline_store_commit_seconds_sum"], before + 1);
}

TEST_F(MeasuredStoreTest, PointsCountOnceTheyAreStoredAndOverwrittenOnesApart) {
  ASSERT_TRUE(AddPoint(1, 1).ok());
  ASSERT_TRUE(AddPoint(9999, 1).ok());
  ASSERT_TRUE(AddPoint(1, 2).ok());
  inner_.refusal = absl::UnavailableError("disk full");
  EXPECT_FALSE(AddPoint(2, 1).ok());
  auto series = Series();
  EXPECT_EQ(series["leadline_points_total{result=\"stored\"}"], 2);
  EXPECT_EQ(series["leadline_points_total{result=\"overwritten\"}"], 1);
  EXPECT_EQ(series["leadline_store_failures_total{reason=\"refused\"}"], 1);
  inner_.refusal = absl::InternalError("no");
  EXPECT_FALSE(AddPoint(2, 1).ok());
  EXPECT_EQ(Series()["leadline_store_failures_total{reason=\"failed\"}"], 1);
}

TEST_F(MeasuredStoreTest, AnAttemptCountsWhenItsEndIsCommitted) {
  const storage::EndAttempt end{
      Attempt(1, 1, 1), AttemptOutcome::kFailed, FailureKind::kNccl, "", {}};
  const char* key = "leadline_attempts_total{kind=\"nccl\",outcome=\"failed\"}";
  inner_.refusal = absl::UnavailableError("disk full");
  EXPECT_FALSE(test::CommitOne(store_, end).ok());
  EXPECT_EQ(Series()[key], 0);
  inner_.refusal = absl::OkStatus();
  ASSERT_TRUE(test::CommitOne(store_, end).ok());
  EXPECT_EQ(Series()[key], 1);
}

}  // namespace
}  // namespace leadline::metrics
