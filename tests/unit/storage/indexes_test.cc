// Every statement of the store finds its rows through an index, whatever
// version the file began with.

#include <set>
#include <sstream>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "storage/open.h"
#include "storage/sqlite/schema.h"
#include "tests/support/statement_trace.h"
#include "tests/support/store_world.h"

namespace leadline::storage {
namespace {

constexpr int64_t kAll = 1'000'000;

/// Nothing of version 0.
void MakeDatabase(const std::filesystem::path& path, int version) {
  if (version == 0) return;
  SQLite::Database database(path.string(),
                            SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  for (int step = 0; step < version; ++step) {
    database.exec(sqlite::kSchemaSteps[static_cast<size_t>(step)]);
  }
  database.exec("PRAGMA application_id = 0x4C454144; PRAGMA user_version = " +
                std::to_string(version));
}

void WriteOfEachKind(Store& store) {
  const AttemptKey failed = test::Attempt(1, 1, 1);
  const AttemptKey live = test::Attempt(1, 2, 1);
  const TrialId trial = test::Trial(1, 2, 0);
  ASSERT_TRUE(test::CommitOne(store, test::MakeSweep(1, 3, 2)).ok());
  ASSERT_TRUE(test::Run(store, failed, {test::Trial(1, 1, 0)}).ok());
  ASSERT_TRUE(test::Run(store, live, {trial}).ok());
  AttemptRecord described;
  described.key = live;
  described.device = "cpu";
  CohortRecord standing;
  standing.id = test::Cohort(1, 1);
  standing.failures = 1;
  NodeRecord node;
  node.name = "node-a";
  node.failures = {failed};
  const std::vector<Change> changes = {
      EndAttempt{
          failed, AttemptOutcome::kFailed, FailureKind::kCrash, "gone", {}},
      MoveTrial{test::Trial(1, 1, 0), TrialState::kRunning, TrialState::kFailed,
                "it crashed"},
      SetStanding{standing},
      SetNode{node},
      KeepOrphan{{failed, 7, "{}"}},
      DescribeAttempt{described},
      AddPoints{live, {{trial, "train_loss", 10, 1.5}}},
      AddRouting{live, {trial, 10, {{{"e", "u1"}, {0.5, 0.5}}}, {}}},
      AddWindows{live, {trial, 10, "validation", {1.0, 2.0}}},
      Acknowledge{live, 9, 10},
      AskToStop{live, "paused"},
      SetRankPids{live, {{0, 4711}}},
      AddResult{test::MakeResult(trial, live, 1.5)},
      StopSweep{{1}, "too many failures"},
      MoveSweep{{1}, SweepState::kActive, SweepState::kPaused},
      BeginErrand{{{1}, std::nullopt, ErrandKind::kStop}},
      BeginErrand{{{1}, 2, ErrandKind::kCancel}},
      EndErrand{{{1}, 2, ErrandKind::kCancel}},
      KeepAnswer{"request", "answer", {}}};
  ASSERT_TRUE(store.Commit(changes).ok());
}

void AskAll(const Store& store, const StoreReader& reader) {
  const TrialId trial = test::Trial(1, 2, 0);
  EXPECT_TRUE(store.LoadUnfinished().ok());
  EXPECT_TRUE(store.LoadSweep({1}).ok());
  EXPECT_TRUE(store.LoadCells({1}, 1, 2).ok());
  EXPECT_TRUE(store.NextSweepId().ok());
  EXPECT_TRUE(store.FindEqualSweep("depth study", "hash1").ok());
  EXPECT_TRUE(store.FindAnswer("request").ok());
  EXPECT_TRUE(reader.ListSweeps({}, kAll).ok());
  EXPECT_TRUE(reader.CountSweeps().ok());
  EXPECT_TRUE(reader.GetSweep({1}).ok());
  EXPECT_TRUE(reader.FindByName("depth", 5).ok());
  EXPECT_TRUE(reader.ListCells({1}, "validation_loss", 0, kAll).ok());
  EXPECT_TRUE(reader.ListTrials({1}, {}, {}, kAll).ok());
  EXPECT_TRUE(reader.ListTrials({1}, test::Cell(1, 2), {}, kAll).ok());
  EXPECT_TRUE(reader.GetTrial(trial).ok());
  EXPECT_TRUE(reader.CohortTrials(test::Cohort(1, 2)).ok());
  EXPECT_TRUE(reader.ListAttempts(test::Cohort(1, 2)).ok());
  EXPECT_TRUE(reader.FindResult(trial).ok());
  EXPECT_TRUE(reader.Curve(trial, "train_loss", -1, kAll).ok());
  EXPECT_TRUE(reader.FindRouting(trial, {}).ok());
  EXPECT_TRUE(reader.FindWindows(trial, "validation", {}).ok());
  EXPECT_TRUE(reader.ListOrphans(test::Attempt(1, 1, 1), -1, kAll).ok());
  EXPECT_TRUE(reader.CohortOrphans(test::Cohort(1, 1)).ok());
  EXPECT_TRUE(reader.SweepOrphans({1}).ok());
  EXPECT_TRUE(reader.CountFailures({1}).ok());
  EXPECT_TRUE(reader.ListEnded({1}, kAll).ok());
  SweepFilter filter;
  filter.states = {SweepState::kActive};
  filter.tags = {"paper"};
  filter.user = "ada";
  filter.failed_kind = FailureKind::kCrash;
  EXPECT_TRUE(reader.FindSweeps(filter, {}, kAll).ok());
  EXPECT_TRUE(reader.CountSweeps(filter).ok());
  EXPECT_TRUE(reader.CountContents(SweepId{1}).ok());
  EXPECT_TRUE(reader.CountContents(trial).ok());
  EXPECT_TRUE(store.FindSweep({1}).ok());
  EXPECT_TRUE(
      reader.ListTrialsFailed(FailureKind::kCrash, {1}, {}, {}, kAll).ok());
  EXPECT_TRUE(reader.CountTrialsFailed(FailureKind::kCrash, {1}, {}).ok());
}

void RemoveAll(Store& store) {
  ASSERT_TRUE(test::CommitOne(store, test::MakeSweep(2, 3, 2)).ok());
  const TrialId trial = test::Trial(2, 1, 0);
  const AttemptKey attempt = test::Attempt(2, 1, 1);
  ASSERT_TRUE(test::Run(store, attempt, {trial}).ok());
  const std::vector<Change> changes = {
      AddPoints{attempt, {{trial, "train_loss", 10, 1.5}}},
      AddResult{test::MakeResult(trial, attempt, 1.5)},
      MoveTrial{trial, TrialState::kRunning, TrialState::kSucceeded, ""},
      EndAttempt{attempt, AttemptOutcome::kSucceeded, {}, "", {}},
      MoveSweep{{2}, SweepState::kActive, SweepState::kCancelled},
      DropMeasurements{trial},
      DescribeSweep{{2}, WallTime{}, "note", {"paper"}},
      RemoveSweep{{2}, {}}};
  ASSERT_TRUE(store.Commit(changes).ok());
  PurgeLimits limits;
  limits.archived_before = WallTime(std::chrono::seconds(1));
  while (store.Purge(limits).value()) {
  }
}

bool ReadsOrWritesRows(const std::string& sql) {
  for (const char* word : {"SELECT", "UPDATE", "DELETE", "INSERT"}) {
    if (sql.starts_with(word)) return true;
  }
  return false;
}

/// Sweeps, nodes and names of metrics are few; all else may be many.
bool MayScan(const std::string& step) {
  if (step == "SCAN dropped_trial" || step.find("VIRTUAL TABLE") != step.npos) {
    return true;  // the first row alone; JSON in a value
  }
  for (const char* few : {"SCAN s", "SCAN sweep", "SCAN n", "SCAN (", "SCAN m",
                          "SCAN metric", "SCAN CONSTANT"}) {
    if (step == few || step.starts_with(std::string(few) + " ") ||
        (std::string(few).ends_with("(") && step.starts_with(few))) {
      return true;
    }
  }
  return false;
}

class Indexes : public ::testing::TestWithParam<int> {};

TEST_P(Indexes, EveryStatementOfTheStoreFindsItsRowsThroughOne) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "leadline.db";
  MakeDatabase(path, GetParam());
  ASSERT_TRUE(OpenSqliteStore(path).ok());  // brings it up to date
  const test::StatementTrace trace;
  const auto pair = OpenSqliteStore(path).value();
  WriteOfEachKind(*pair.store);
  AskAll(*pair.store, *pair.reader);
  RemoveAll(*pair.store);
  const auto seen = test::StatementTrace::Take();
  SQLite::Database database(path.string());
  size_t looked_at = 0;
  for (const std::string& sql : std::set(seen.begin(), seen.end())) {
    if (!ReadsOrWritesRows(sql)) continue;
    ++looked_at;
    std::istringstream plan(test::PlanOf(database, sql));
    for (std::string step; std::getline(plan, step);) {
      EXPECT_TRUE(!step.starts_with("SCAN") || MayScan(step))
          << step << "\n  " << sql;
    }
  }
  EXPECT_GT(looked_at, 90U);
}

INSTANTIATE_TEST_SUITE_P(FromVersion, Indexes,
                         ::testing::Range(0, sqlite::kSchemaVersion + 1),
                         [](const auto& info) {
                           return std::to_string(info.param);
                         });

}  // namespace
}  // namespace leadline::storage
