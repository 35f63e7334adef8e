#include <cmath>
#include <limits>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/open.h"
#include "tests/support/store_world.h"

namespace leadline::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr double kInf = std::numeric_limits<double>::infinity();

class Views : public ::testing::Test {
 protected:
  Views() : pair_(OpenSqliteStore(path_).value()) {}

  void Commit(const Change& change) {
    const absl::Status done = test::CommitOne(*pair_.store, change);
    ASSERT_TRUE(done.ok()) << done;
  }

  /// One cell whose seeds all succeed with these losses.
  void Finish(int64_t sweep, const std::vector<double>& losses) {
    const auto seeds = std::ssize(losses);
    Commit(test::MakeSweep(sweep, 1, seeds));
    const AttemptKey attempt = test::Attempt(sweep, 1, 1);
    std::vector<TrialId> trials;
    for (int64_t s = 0; s < seeds; ++s) {
      trials.push_back(test::Trial(sweep, 1, s));
    }
    ASSERT_TRUE(test::Run(*pair_.store, attempt, trials).ok());
    for (int64_t s = 0; s < seeds; ++s) {
      ASSERT_TRUE(test::Succeed(*pair_.store, trials[static_cast<size_t>(s)],
                                attempt, losses[static_cast<size_t>(s)])
                      .ok());
    }
  }

  /// Rows as text, columns between bars; NULL is empty.
  std::vector<std::string> Rows(const std::string& sql) {
    SQLite::Database database(path_.string());
    SQLite::Statement query(database, sql);
    std::vector<std::string> rows;
    while (query.executeStep()) {
      std::string& row = rows.emplace_back();
      for (int i = 0; i < query.getColumnCount(); ++i) {
        row += (i ? "|" : "") + query.getColumn(i).getString();
      }
    }
    return rows;
  }

  std::vector<std::string> Columns(const std::string& view) {
    SQLite::Database database(path_.string());
    SQLite::Statement query(database, "SELECT * FROM " + view);
    std::vector<std::string> names;
    for (int i = 0; i < query.getColumnCount(); ++i) {
      names.emplace_back(query.getColumnName(i));
    }
    return names;
  }

  double Number(const std::string& sql) {
    SQLite::Database database(path_.string());
    return database.execAndGet(sql).getDouble();
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "leadline.db";
  StorePair pair_;
};

TEST_F(Views, ColumnsAreTheContract) {
  EXPECT_THAT(
      Columns("sweeps"),
      ElementsAre("sweep", "name", "state", "submitted_at", "user", "cells",
                  "trials", "succeeded", "diverged", "failed", "cancelled"));
  EXPECT_THAT(Columns("sweep_notes"),
              ElementsAre("sweep", "archived_at", "note", "tags"));
  EXPECT_THAT(Columns("trial_results"),
              ElementsAre("sweep", "cell", "trial", "seed", "depth", "dataset",
                          "method", "state", "metric", "split", "unit", "value",
                          "step", "steps", "tokens", "seconds", "attempts",
                          "numerics", "device", "determinism"));
  EXPECT_THAT(Columns("cell_results"),
              ElementsAre("sweep", "cell", "depth", "dataset", "method",
                          "metric", "split", "unit", "n", "planned", "diverged",
                          "failed", "mean", "sd", "min", "max"));
  EXPECT_THAT(Columns("curves"), ElementsAre("sweep", "cell", "trial", "seed",
                                             "metric", "step", "value"));
  EXPECT_THAT(Columns("routing"), ElementsAre("trial", "step", "router",
                                              "sublayer", "source", "weight"));
  EXPECT_THAT(Columns("routing_stats"),
              ElementsAre("trial", "step", "router", "name", "value"));
  EXPECT_THAT(
      Columns("attempts"),
      ElementsAre("trial", "cohort", "attempt", "node", "device", "started_at",
                  "ended_at", "outcome", "kind", "message"));
  EXPECT_THAT(Columns("settings"), ElementsAre("cell", "key", "value"));
  EXPECT_THAT(Columns("attempt_ranks"),
              ElementsAre("trial", "cohort", "attempt", "rank", "node",
                          "device", "pid"));
}

TEST_F(Views, RanksOfAnAttemptHaveARowATrial) {
  Commit(test::MakeSweep(1, 1, 1));
  StartAttempt start = test::Start(test::Attempt(1, 1, 1));
  start.attempt.node = "a+b";
  start.attempt.ranks = {{"a", {"cpu:0", "cpu:1"}, 0}, {"b", {"cpu:3"}, 0}};
  Commit(start);
  Commit(SetRankPids{start.attempt.key, {{1, 4711}}});
  EXPECT_THAT(Rows("SELECT * FROM attempt_ranks ORDER BY rank"),
              ElementsAre("s1.1.0|s1.1.c0|s1.1.0@1|0|a|cpu:0+cpu:1|",
                          "s1.1.0|s1.1.c0|s1.1.0@1|1|b|cpu:3|4711"));
}

TEST_F(Views, SweepsCountTheirTrials) {
  Finish(1, {1.0, 2.0});
  EXPECT_THAT(Rows("SELECT * FROM sweeps"),
              ElementsAre("s1|depth study|active|2025-11-29T15:04:05Z|ada|1|2|"
                          "2|0|0|0"));
}

TEST_F(Views, EveryTrialHasARowAMetricWithOrWithoutValue) {
  Finish(1, {1.0});
  Commit(test::MakeSweep(2, 1, 1));
  EXPECT_THAT(
      Rows("SELECT trial, seed, state, metric, split, unit, value, step, "
           "attempts FROM trial_results"),
      UnorderedElementsAre(
          "s1.1.0|0|succeeded|validation_loss|validation|nats/char|1.0|300|1",
          "s1.1.0|0|succeeded|test_loss|test|nats/char|1.5|300|1",
          "s1.1.0|0|succeeded|best_validation_loss|validation|nats/char|0.75|"
          "250|1",
          "s2.1.0|0|queued|validation_loss|validation|nats/char|||0",
          "s2.1.0|0|queued|test_loss|test|nats/char|||0",
          "s2.1.0|0|queued|best_validation_loss|validation|nats/char|||0"));
}

TEST_F(Views, CellStatisticsAreThoseOfTheSample) {
  Finish(1, {1, 2, 6});
  EXPECT_THAT(Rows("SELECT cell, n, planned, diverged, failed, mean, min, max "
                   "FROM cell_results WHERE metric = 'validation_loss'"),
              ElementsAre("s1.1|3|3|0|0|3.0|1.0|6.0"));
  EXPECT_NEAR(Number("SELECT sd FROM cell_results WHERE metric = "
                     "'validation_loss' AND split = 'validation'"),
              2.6457513110645907, 1e-15);
}

TEST_F(Views, LossesEqualToTheLastBitCountOnce) {
  Finish(1, {1, 2, 1, 6});
  EXPECT_THAT(Rows("SELECT n, planned, mean, min, max FROM cell_results "
                   "WHERE metric = 'validation_loss'"),
              ElementsAre("3|4|3.0|1.0|6.0"));
  EXPECT_NEAR(Number("SELECT sd FROM cell_results WHERE metric = "
                     "'validation_loss' AND split = 'validation'"),
              2.6457513110645907, 1e-15);
}

TEST_F(Views, DeviationAgreesWithATwoPassComputation) {
  const std::vector<std::vector<double>> cells = {
      {1.1, 1.1000001, 1.1000002},
      {1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4},
      {1e-12, 3e-12},
      {2.5, 2.5, 2.5},
      {0.1, 1e6, 3.0, 17.25, 1e-3}};
  int64_t sweep = 0;
  for (const auto& losses : cells) {
    Finish(++sweep, losses);
    double mean = 0;
    for (const double x : losses) mean += x;
    mean /= static_cast<double>(losses.size());
    double squares = 0;
    for (const double x : losses) squares += (x - mean) * (x - mean);
    const double sd =
        std::sqrt(squares / static_cast<double>(losses.size() - 1));
    const std::string where =
        " FROM cell_results WHERE metric = "
        "'validation_loss' AND sweep = 's" +
        std::to_string(sweep) + "'";
    EXPECT_NEAR(Number("SELECT mean" + where), mean, 1e-15 * std::abs(mean));
    EXPECT_NEAR(Number("SELECT sd" + where), sd, 1e-14 * sd);
  }
}

TEST_F(Views, OneValueHasNoDeviationAndNoneHasNothing) {
  Finish(1, {1.5});
  Commit(test::MakeSweep(2, 1, 2));
  EXPECT_THAT(Rows("SELECT cell, n, mean, sd IS NULL, mean IS NULL FROM "
                   "cell_results WHERE metric = 'validation_loss' ORDER BY 1"),
              ElementsAre("s1.1|1|1.5|1|0", "s2.1|0||1|1"));
}

TEST_F(Views, OnlySucceededTrialsHaveAPartInTheMean) {
  Finish(1, {1.0, 3.0});
  Commit(test::MakeSweep(2, 1, 3));
  const AttemptKey attempt = test::Attempt(2, 1, 1);
  const std::vector<TrialId> trials = {
      test::Trial(2, 1, 0), test::Trial(2, 1, 1), test::Trial(2, 1, 2)};
  ASSERT_TRUE(test::Run(*pair_.store, attempt, trials).ok());
  ASSERT_TRUE(test::Succeed(*pair_.store, trials[0], attempt, 1.0).ok());
  Commit(AddResult{test::MakeResult(trials[1], attempt, 99.0)});
  Commit(MoveTrial{trials[1], TrialState::kRunning, TrialState::kDiverged, ""});
  Commit(MoveTrial{trials[2], TrialState::kRunning, TrialState::kFailed, ""});
  EXPECT_THAT(Rows("SELECT n, planned, diverged, failed, mean FROM "
                   "cell_results WHERE sweep = 's2' AND metric = "
                   "'validation_loss'"),
              ElementsAre("1|3|1|1|1.0"));
}

TEST_F(Views, NonFiniteLossesAreShownAsWhatTheyAre) {
  Finish(1, {1.0, std::nan(""), 2.0});
  Finish(2, {1.0, kInf});
  EXPECT_THAT(Rows("SELECT sweep, n, mean, sd, min, max FROM cell_results "
                   "WHERE metric = 'validation_loss' ORDER BY 1"),
              ElementsAre("s1|3|nan|nan|nan|nan", "s2|2|Inf|nan|1.0|Inf"));
  EXPECT_THAT(
      Rows("SELECT value, typeof(value) FROM trial_results WHERE "
           "metric = 'validation_loss' AND sweep = 's1' ORDER BY trial"),
      ElementsAre("1.0|real", "nan|text", "2.0|real"));
}

TEST_F(Views, CurvesRoutingAndAttemptsAreFlatRows) {
  Finish(1, {1.0, 2.0});
  const AttemptKey attempt = test::Attempt(1, 1, 1);
  const TrialId trial = test::Trial(1, 1, 1);
  Commit(AddPoints{attempt,
                   {{trial, "train_loss", 10, 2.5},
                    {trial, "train_loss", 20, std::nan("")},
                    {trial, "train_loss", 30, -kInf}}});
  EXPECT_THAT(Rows("SELECT * FROM curves ORDER BY step"),
              ElementsAre("s1|s1.1|s1.1.1|10|train_loss|10|2.5",
                          "s1|s1.1|s1.1.1|10|train_loss|20|nan",
                          "s1|s1.1|s1.1.1|10|train_loss|30|-Inf"));
  RoutingRecord routing{trial, 300, {}, {}};
  routing.map.push_back({{"e"}, {1.0}});
  routing.map.push_back({{"e", "Dphi0"}, {0.25, 0.75}});
  routing.statistics["route.entropy"] = {0.0, 0.5, kInf};
  Commit(AddRouting{attempt, routing});
  EXPECT_THAT(Rows("SELECT * FROM routing ORDER BY router, source"),
              ElementsAre("s1.1.1|300|0|0|e|1.0", "s1.1.1|300|1|1|Dphi0|0.75",
                          "s1.1.1|300|1|1|e|0.25"));
  EXPECT_THAT(Rows("SELECT * FROM routing_stats ORDER BY router"),
              ElementsAre("s1.1.1|300|0|route.entropy|0.0",
                          "s1.1.1|300|1|route.entropy|0.5",
                          "s1.1.1|300|2|route.entropy|inf"));
  Commit(EndAttempt{
      attempt, AttemptOutcome::kFailed, FailureKind::kOom, "no memory",
      WallTime(std::chrono::microseconds(1'764'428'700'000'000))});
  EXPECT_THAT(
      Rows("SELECT * FROM attempts ORDER BY trial"),
      ElementsAre("s1.1.0|s1.1.c0|s1.1.0@1|node-a||2025-11-29T15:04:06Z|"
                  "2025-11-29T15:05:00Z|failed|oom|no memory",
                  "s1.1.1|s1.1.c0|s1.1.1@1|node-a||2025-11-29T15:04:06Z|"
                  "2025-11-29T15:05:00Z|failed|oom|no memory"));
}

TEST_F(Views, NoneShowsASweepBeforeItIsAdmitted) {
  const AddSweep whole = test::MakeSweep(1, 2, 2);
  Commit(StageSweep{whole});
  for (const char* view :
       {"sweeps", "trial_results", "cell_results", "settings", "curves"}) {
    EXPECT_TRUE(Rows("SELECT 1 FROM " + std::string(view)).empty()) << view;
  }
  Commit(AdmitSweep{whole.sweep.id, {}});
  for (const char* view :
       {"sweeps", "trial_results", "cell_results", "settings"}) {
    EXPECT_FALSE(Rows("SELECT 1 FROM " + std::string(view)).empty()) << view;
  }
}

TEST_F(Views, SettingsAreKeysAndValues) {
  Commit(test::MakeSweep(1, 1, 1));
  EXPECT_THAT(Rows("SELECT * FROM settings ORDER BY key"),
              ElementsAre("s1.1|depth|4", "s1.1|lr|0.001", "s1.1|method|wav"));
}

}  // namespace
}  // namespace leadline::storage
