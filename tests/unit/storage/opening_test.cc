#include <csignal>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/open.h"
#include "storage/sqlite/schema.h"
#include "tests/support/store_world.h"

namespace leadline::storage {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::map<std::string, std::string> FilesOf(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    files[entry.path().filename().string()] = text.str();
  }
  return files;
}

/// As kill -9: nothing is closed.
void Die() { raise(SIGKILL); }

/// Runs `work`, which ends in Die, in a process of its own.
void InProcessThatDies(const std::function<void()>& work) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    work();
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

class Opening : public ::testing::Test {
 protected:
  void Write(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }

  void ExpectRefused(const std::string& why) {
    const auto before = FilesOf(folder_.path());
    const auto pair = OpenSqliteStore(path_);
    EXPECT_EQ(pair.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(pair.status().message()), HasSubstr(why));
    EXPECT_THAT(std::string(pair.status().message()), HasSubstr("leadline.db"));
    EXPECT_EQ(FilesOf(folder_.path()), before) << "files were touched";
  }

  test::TemporaryFolder folder_;
  const fs::path path_ = folder_.path() / "leadline.db";
};

TEST_F(Opening, MakesADatabaseOfOurs) {
  ASSERT_TRUE(OpenSqliteStore(path_).ok());
  SQLite::Database database(path_.string());
  EXPECT_EQ(database.execAndGet("PRAGMA application_id").getInt(), 0x4C454144);
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(),
            sqlite::kSchemaVersion);
  EXPECT_EQ(database.execAndGet("PRAGMA journal_mode").getString(), "wal");
  EXPECT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
  EXPECT_TRUE(OpenSqliteStore(path_).ok());
}

TEST_F(Opening, WithoutALogTheSameRecordIsReadAndWritten) {
  std::string before;
  {
    const auto with_log = OpenSqliteStore(path_);
    ASSERT_TRUE(with_log.ok());
    ASSERT_TRUE(
        test::CommitOne(*with_log->store, test::MakeSweep(1, 1, 2)).ok());
    before = test::Dump(*with_log, {});
  }
  OpenOptions without;
  without.write_ahead_log = false;
  {
    const auto pair = OpenSqliteStore(path_, without);
    ASSERT_TRUE(pair.ok()) << pair.status();
    EXPECT_EQ(test::Dump(*pair, {}), before);
    ASSERT_TRUE(test::CommitOne(*pair->store, test::MakeSweep(2, 1, 2)).ok());
    EXPECT_EQ(pair->reader->CountSweeps().value(), 2);
    EXPECT_FALSE(fs::exists(path_.string() + "-wal"));
    EXPECT_FALSE(fs::exists(path_.string() + "-shm"));
  }
  EXPECT_EQ(OpenSqliteStore(path_)->reader->CountSweeps().value(), 2);
}

TEST_F(Opening, ADatabaseOfTheFirstSchemaIsBroughtUpToDateWithAllItHolds) {
  {
    SQLite::Database old(path_.string(),
                         SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    old.exec(sqlite::kSchemaSteps[0]);
    old.exec(
        "INSERT INTO sweep VALUES (1, 's1', 'old', '', 'me', '', 'h', "
        "'active', 5, 0, NULL, 3);"
        "INSERT INTO cell VALUES (1, 's1.1', 1, 1, 'c', '{}', '{}', 2, 'd', "
        "'m', 'd', '', 'h', 'char', 0.9, 0.05, 0.05, NULL, 'nats/char', NULL, "
        "NULL, 10);"
        "INSERT INTO cohort VALUES (1, 's1.1.c0', 1, 0, 2, 1);"
        "INSERT INTO trial VALUES (1, 's1.1.0', 1, 1, 1, 0, 7, 'running', '');"
        "INSERT INTO attempt VALUES (1, 1, 'n', 'i', 'cpu', '[\"cpu:0\"]', '', "
        "'', '', '', '', 1, 9, 4, 5, 6, 'failed', 'oom', 'too large');"
        "INSERT INTO attempt VALUES (1, 2, 'n', 'i', 'cpu', '[\"cpu:0\"]', '', "
        "'', '', '', '', 1, 9, 4, 7, NULL, 'live', NULL, '');"
        "INSERT INTO result VALUES (1, 2, 1.5, NULL, NULL, NULL, 'nats/char', "
        "10, 100, 2.5, 11, 12);"
        "PRAGMA application_id = 0x4C454144; PRAGMA user_version = 1");
  }
  const auto pair = OpenSqliteStore(path_);
  ASSERT_TRUE(pair.ok()) << pair.status();
  const SweepContents sweep = pair->store->LoadSweep({1}).value();
  EXPECT_EQ(sweep.sweep.failure_limit, 3);
  ASSERT_EQ(sweep.live.size(), 1U);
  EXPECT_EQ(sweep.live[0].last_sequence, 4);
  EXPECT_EQ(sweep.live[0].stop_reason, "");
  EXPECT_EQ(sweep.live[0].step, 0);
  EXPECT_THAT(sweep.live[0].ranks,
              ::testing::ElementsAre(RankRecord{"n", {"cpu:0"}, 0}));
  const StoreReader& reader = *pair->reader;
  EXPECT_EQ(reader.GetTrial(test::Trial(1, 1, 0))->failed_kind,
            FailureKind::kOom);
  const auto result = reader.FindResult(test::Trial(1, 1, 0)).value();
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->validation_loss, 1.5);
  EXPECT_EQ(result->determinism, Determinism::kUnknown);
  const AttemptKey live = test::Attempt(1, 1, 2);
  EXPECT_TRUE(test::CommitOne(*pair->store, AskToStop{live, "paused"}).ok());
  EXPECT_TRUE(test::CommitOne(*pair->store, Acknowledge{live, 5, 20}).ok());
  EXPECT_EQ(reader.ListAttempts(test::Cohort(1, 1))->at(1).step, 20);
}

TEST_F(Opening, ATextFileStaysAsItIs) {
  Write("dear diary\n" + std::string(5000, 'x'));
  ExpectRefused("no SQLite database");
  Write("short");
  ExpectRefused("no SQLite database");
  Write(std::string("SQLite format 3\0", 16));
  ExpectRefused("no SQLite database");
}

TEST_F(Opening, AnotherProgramsDatabaseStaysAsItIs) {
  SQLite::Database(path_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE t (x); INSERT INTO t VALUES (1)");
  ExpectRefused("another program");
}

TEST_F(Opening, AnotherProgramsLogLeftByAKillStaysAsItIs) {
  InProcessThatDies([&] {
    SQLite::Database database(path_.string(),
                              SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("CREATE TABLE t (x); INSERT INTO t VALUES (1)");
    Die();
  });
  ASSERT_TRUE(fs::exists(path_.string() + "-wal"));
  ASSERT_TRUE(fs::exists(path_.string() + "-shm"));
  ExpectRefused("another program");
  fs::remove(path_.string() + "-shm");
  ExpectRefused("another program");
}

TEST_F(Opening, ANewerSchemaStaysAsItIs) {
  ASSERT_TRUE(OpenSqliteStore(path_).ok());
  SQLite::Database(path_.string(), SQLite::OPEN_READWRITE)
      .exec("PRAGMA user_version = 77; PRAGMA wal_checkpoint(TRUNCATE)");
  ExpectRefused("version 77");
}

TEST_F(Opening, ANewerSchemaThatOnlyTheLogKnowsStaysAsItIs) {
  ASSERT_TRUE(OpenSqliteStore(path_).ok());
  InProcessThatDies([&] {
    SQLite::Database database(path_.string(), SQLite::OPEN_READWRITE);
    database.exec("PRAGMA user_version = 78");
    Die();
  });
  ASSERT_GT(fs::file_size(path_.string() + "-wal"), 0U);
  ExpectRefused("version 78");
}

TEST_F(Opening, ADamagedVersionIsRefused) {
  ASSERT_TRUE(OpenSqliteStore(path_).ok());
  SQLite::Database(path_.string(), SQLite::OPEN_READWRITE)
      .exec("PRAGMA user_version = -1; PRAGMA wal_checkpoint(TRUNCATE)");
  ExpectRefused("damaged");
}

TEST_F(Opening, ALogWithoutItsDatabaseIsNotDeleted) {
  std::ofstream(path_.string() + "-wal") << "somebody's data";
  ExpectRefused("its log");
  Write("");
  ExpectRefused("its log");
}

TEST_F(Opening, AFolderInPlaceOfTheFileIsRefused) {
  fs::create_directory(path_);
  const auto pair = OpenSqliteStore(path_);
  EXPECT_EQ(pair.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(pair.status().message()),
              HasSubstr("not a regular file"));
}

TEST_F(Opening, AMissingFolderIsNamed) {
  const auto pair = OpenSqliteStore(folder_.path() / "none" / "leadline.db");
  EXPECT_EQ(pair.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(pair.status().message()), HasSubstr("none"));
  EXPECT_FALSE(fs::exists(folder_.path() / "none"));
}

TEST_F(Opening, WhatMayNotBeWrittenIsRefused) {
  ASSERT_TRUE(OpenSqliteStore(path_).ok());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // Permissions bind everybody but root.
    chmod(path_.c_str(), 0444);
    chmod(folder_.path().c_str(), 0555);
    if (geteuid() == 0 && setuid(65534) != 0) _exit(9);
    const auto pair = OpenSqliteStore(path_);
    if (pair.ok()) _exit(1);
    _exit(std::string(pair.status().message()).find(path_.string()) ==
                  std::string::npos
              ? 2
              : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  chmod(folder_.path().c_str(), 0755);
  EXPECT_EQ(status, 0);
}

TEST_F(Opening, OursIsWholeAgainAfterAKill) {
  InProcessThatDies([&] {
    const auto pair = OpenSqliteStore(path_).value();
    if (!test::CommitOne(*pair.store, test::MakeSweep(1, 3, 2)).ok()) _exit(1);
    Die();
  });
  ASSERT_GT(fs::file_size(path_.string() + "-wal"), 0U);
  const auto pair = OpenSqliteStore(path_).value();
  EXPECT_EQ(pair.store->LoadSweep({1})->trials,
            test::MakeSweep(1, 3, 2).trials);
}

TEST_F(Opening, ADatabaseOfAnEarlierVersionIsBroughtUpWithWhatItHolds) {
  {
    SQLite::Database database(path_.string(),
                              SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec(sqlite::kSchemaSteps[0]);
    database.exec(
        "PRAGMA application_id = 0x4C454144; PRAGMA user_version = 1;"
        "INSERT INTO metric (id, name) VALUES (77, 'kept')");
  }
  ASSERT_TRUE(OpenSqliteStore(path_).ok());
  SQLite::Database database(path_.string());
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(),
            sqlite::kSchemaVersion);
  EXPECT_EQ(
      database.execAndGet("SELECT name FROM metric WHERE id = 77").getString(),
      "kept");
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM cell_results").getInt(),
            0);
}

TEST_F(Opening, ADatabaseOfTheFirstVersionGoesOn) {
  {
    SQLite::Database database(path_.string(),
                              SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec(sqlite::kSchemaSteps[0]);
    database.exec(R"sql(
      PRAGMA application_id = 0x4C454144; PRAGMA user_version = 1;
      INSERT INTO sweep VALUES (1, 's1', 'old', '', '', '', 'h', 'active', 0,
        0, NULL, 3);
      INSERT INTO cell VALUES (1, 's1.1', 1, 1, 'h', '{}', '{}', 2, 'iid27',
        'prenorm', 'iid27', '', 'd', 'char', 0.9, 0.05, 0.05, 27, 'nats/char',
        NULL, NULL, 10);
      INSERT INTO cohort VALUES (1, 's1.1.c0', 1, 0, 3, 2);
      INSERT INTO trial VALUES (1, 's1.1.0', 1, 1, 1, 0, 0, 'running', '');
      INSERT INTO attempt VALUES (1, 3, 'n', 'i', 'cpu', '["cpu:0"]', '', '',
        '', '', '', 1, 0, 7, 0, NULL, 'live', NULL, '');)sql");
  }
  const auto pair = OpenSqliteStore(path_);
  ASSERT_TRUE(pair.ok()) << pair.status();
  const SweepContents contents = pair->store->LoadSweep({1}).value();
  EXPECT_EQ(contents.sweep.failure_limit, 3);
  EXPECT_EQ(contents.sweep.on_failures, OnFailures::kStop);
  EXPECT_EQ(contents.cohorts.at(0).failures, 2);
  EXPECT_EQ(contents.cohorts.at(0).failures_in_row, 2) << "as it counted then";
  EXPECT_EQ(contents.live.at(0).last_sequence, 7);
  EXPECT_EQ(contents.live.at(0).step, 0);
  EXPECT_TRUE(pair->store->LoadNodes().value().empty());
  EXPECT_TRUE(
      test::CommitOne(*pair->store, Acknowledge{contents.live.at(0).key, 8, 5})
          .ok());
}

TEST_F(Opening, AKillWhileItIsMadeDoesNotLockUsOut) {
  InProcessThatDies([&] {
    SQLite::Database database(path_.string() + ".new",
                              SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    // A transaction too large for the cache leaves pages and a journal behind.
    database.exec("PRAGMA cache_size = 2; BEGIN EXCLUSIVE");
    database.exec(sqlite::kSchemaSteps[0]);
    database.exec("PRAGMA application_id = 0x4C454144; PRAGMA user_version=1");
    Die();
  });
  const auto pair = OpenSqliteStore(path_);
  ASSERT_TRUE(pair.ok()) << pair.status();
  EXPECT_TRUE(test::CommitOne(*pair->store, test::MakeSweep(1, 1, 1)).ok());
}

}  // namespace
}  // namespace leadline::storage
