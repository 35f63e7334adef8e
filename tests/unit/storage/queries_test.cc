#include <atomic>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "storage/open.h"
#include "tests/support/store_world.h"

namespace leadline::storage {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::atomic<int> statements{0};  // NOLINT: a C callback has no other place

int CountStatement(unsigned, void*, void*, void*) {
  ++statements;
  return 0;
}

int Trace(sqlite3* database, char**, const sqlite3_api_routines*) {
  sqlite3_trace_v2(database, SQLITE_TRACE_STMT, CountStatement, nullptr);
  return SQLITE_OK;
}

/// Every connection opened while this lives counts its statements.
class StatementCounter {
 public:
  StatementCounter() {
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(Trace));
  }
  ~StatementCounter() { sqlite3_reset_auto_extension(); }

  template <typename Call>
  int Of(const Call& call) {
    statements = 0;
    EXPECT_TRUE(call().ok());
    return statements;
  }
};

struct Counts {
  int sweeps, sweep, cells, trials, trial, cohort, attempts, curve, routing;
  bool operator==(const Counts&) const = default;
};

Counts CountAll(int64_t cells) {
  const test::TemporaryFolder folder;
  StatementCounter counter;
  auto pair = OpenSqliteStore(folder.path() / "leadline.db").value();
  EXPECT_TRUE(test::CommitOne(*pair.store, test::MakeSweep(1, cells, 2)).ok());
  const StoreReader& reader = *pair.reader;
  constexpr int64_t kAll = 1'000'000;
  // The first call opens the connection.
  EXPECT_TRUE(reader.CountSweeps().ok());
  Counts counts{};
  counts.sweeps = counter.Of([&] { return reader.ListSweeps({}, kAll); });
  counts.sweep = counter.Of([&] { return reader.GetSweep({1}); });
  counts.cells = counter.Of(
      [&] { return reader.ListCells({1}, "validation_loss", 0, kAll); });
  counts.trials =
      counter.Of([&] { return reader.ListTrials({1}, {}, {}, kAll); });
  counts.trial =
      counter.Of([&] { return reader.GetTrial(test::Trial(1, 1, 0)); });
  counts.cohort =
      counter.Of([&] { return reader.CohortTrials(test::Cohort(1, 1)); });
  counts.attempts =
      counter.Of([&] { return reader.ListAttempts(test::Cohort(1, 1)); });
  counts.curve = counter.Of(
      [&] { return reader.Curve(test::Trial(1, 1, 0), "x", -1, kAll); });
  counts.routing =
      counter.Of([&] { return reader.FindRouting(test::Trial(1, 1, 0), {}); });
  return counts;
}

TEST(Queries, StatementsOfACallDoNotGrowWithRows) {
  const Counts few = CountAll(5);
  EXPECT_EQ(CountAll(50), few);
  EXPECT_EQ(CountAll(5000), few);
  EXPECT_LE(few.cells, 5);
}

class Plans : public ::testing::Test {
 protected:
  Plans() {
    auto pair = OpenSqliteStore(path_);
    EXPECT_TRUE(pair.ok());
    EXPECT_TRUE(test::CommitOne(*pair->store, test::MakeSweep(1, 3, 2)).ok());
  }

  std::string PlanOf(const std::string& sql) {
    SQLite::Database database(path_.string());
    SQLite::Statement query(database, "EXPLAIN QUERY PLAN " + sql);
    std::string plan;
    while (query.executeStep()) plan += query.getColumn(3).getString() + "\n";
    return plan;
  }

  /// No table with many rows is read from end to end.
  void ExpectSearches(const std::string& sql) {
    const std::string plan = PlanOf(sql);
    for (const char* scan :
         {"SCAN t\n", "SCAN t ", "SCAN c\n", "SCAN c ", "SCAN p\n", "SCAN p ",
          "SCAN trial", "SCAN cell", "SCAN points", "SCAN r\n", "SCAN r ",
          "SCAN a\n", "SCAN a ", "SCAN h\n", "SCAN h "}) {
      EXPECT_THAT(plan, Not(HasSubstr(scan))) << sql;
    }
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "leadline.db";
};

TEST_F(Plans, ViewsAskedForOneThingDoNotReadEverything) {
  ExpectSearches("SELECT * FROM sweeps WHERE sweep = 's1'");
  ExpectSearches("SELECT * FROM trial_results WHERE sweep = 's1'");
  ExpectSearches("SELECT * FROM trial_results WHERE trial = 's1.1.0'");
  ExpectSearches("SELECT * FROM trial_results WHERE cell = 's1.1'");
  ExpectSearches("SELECT * FROM cell_results WHERE sweep = 's1'");
  ExpectSearches(
      "SELECT * FROM cell_results WHERE sweep = 's1' AND metric = "
      "'validation_loss'");
  ExpectSearches("SELECT * FROM cell_results WHERE cell = 's1.1'");
  ExpectSearches(
      "SELECT * FROM curves WHERE trial = 's1.1.0' AND metric = 'train_loss'");
  ExpectSearches("SELECT * FROM curves WHERE cell = 's1.1'");
  ExpectSearches("SELECT * FROM routing WHERE trial = 's1.1.0'");
  ExpectSearches("SELECT * FROM routing_stats WHERE trial = 's1.1.0'");
  ExpectSearches("SELECT * FROM attempts WHERE trial = 's1.1.0'");
  ExpectSearches("SELECT * FROM settings WHERE cell = 's1.1'");
}

TEST_F(Plans, ACurveIsARangeOfThePrimaryKey) {
  const std::string plan = PlanOf(
      "SELECT p.step, p.value FROM points p WHERE p.trial = (SELECT id FROM "
      "trial WHERE text = 's1.1.0') AND p.metric = (SELECT id FROM metric "
      "WHERE name = 'x') AND p.step > 5 ORDER BY p.step LIMIT 10");
  EXPECT_THAT(plan, HasSubstr("SEARCH p USING PRIMARY KEY (trial=? AND "
                              "metric=? AND step>?)"));
  EXPECT_THAT(plan, Not(HasSubstr("TEMP B-TREE")));
}

TEST_F(Plans, TrialsOfASweepAreCountedInTheIndexAlone) {
  EXPECT_THAT(
      PlanOf("SELECT count(*) FROM trial WHERE sweep = 1 AND state = 'queued'"),
      HasSubstr("COVERING INDEX trial_by_state"));
}

}  // namespace
}  // namespace leadline::storage
