#include <chrono>
#include <future>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "errors/error_code.h"
#include "storage/open.h"
#include "storage/sqlite/migrations.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/support/store_world.h"

namespace leadline::storage {
namespace {

using sqlite::Connection;

class Faults : public ::testing::Test {
 protected:
  Faults() {
    auto connection =
        std::make_unique<Connection>(path_, Connection::Mode::kWrite);
    EXPECT_TRUE(sqlite::Migrate(*connection).ok());
    connection_ = connection.get();
    store_ = std::make_unique<sqlite::SqliteStore>(std::move(connection));
  }

  absl::Status Add(int64_t number, int64_t cells) {
    return test::CommitOne(*store_, test::MakeSweep(number, cells, 2));
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "leadline.db";
  Connection* connection_ = nullptr;
  std::unique_ptr<sqlite::SqliteStore> store_;
};

TEST_F(Faults, AFullDiskRefusesWholeAndTheNextCommitWorks) {
  ASSERT_TRUE(Add(1, 1).ok());
  const int pages =
      connection_->database().execAndGet("PRAGMA page_count").getInt();
  const std::string limit =
      "PRAGMA max_page_count = " + std::to_string(pages + 4);
  connection_->Execute(limit.c_str());
  const absl::Status full = Add(2, 2000);
  EXPECT_EQ(full.code(), absl::StatusCode::kUnavailable) << full;
  EXPECT_EQ(store_->LoadSweep({2}).status().code(),
            absl::StatusCode::kNotFound);
  connection_->Execute("PRAGMA max_page_count = 1000000");
  EXPECT_TRUE(Add(2, 2000).ok());
  EXPECT_EQ(store_->LoadSweep({2})->cells.size(), 2000U);
}

TEST_F(Faults, ACommitThatFailsAtItsEndLeavesNothingAndTheNextWorks) {
  ASSERT_TRUE(Add(1, 1).ok());
  ASSERT_TRUE(
      test::CommitOne(*store_, test::Start(test::Attempt(1, 1, 1))).ok());
  sqlite3_commit_hook(
      connection_->database().getHandle(), [](void*) { return 1; }, nullptr);
  const Change points = AddPoints{
      test::Attempt(1, 1, 1), {{test::Trial(1, 1, 0), "fresh_metric", 1, 2.5}}};
  EXPECT_FALSE(test::CommitOne(*store_, points).ok());
  sqlite3_commit_hook(connection_->database().getHandle(), nullptr, nullptr);
  // The key of the new metric went with the transaction.
  EXPECT_TRUE(test::CommitOne(*store_, points).ok());
  SQLite::Database other(path_.string());
  EXPECT_EQ(other.execAndGet("SELECT value FROM curves").getDouble(), 2.5);
}

TEST_F(Faults, AWriterOutsideMakesUsUnavailableForThatCommitOnly) {
  SQLite::Database other(path_.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  const absl::Status busy = Add(1, 1);
  EXPECT_EQ(busy.code(), absl::StatusCode::kUnavailable) << busy;
  EXPECT_EQ(ErrorOf(busy), ErrorCode::kStoreRefused);
  other.exec("ROLLBACK");
  EXPECT_TRUE(Add(1, 1).ok());
}

// Each commit reads before it writes: begun as a reader, all but the first of
// two would have to give up at once.
TEST_F(Faults, TwoConnectionsThatReadAndThenWriteBothGetThrough) {
  constexpr int64_t kEach = 100;
  ASSERT_TRUE(Add(1, 1).ok());
  ASSERT_TRUE(Add(2, 1).ok());
  sqlite::SqliteStore other(
      std::make_unique<Connection>(path_, Connection::Mode::kWrite));
  for (const int64_t sweep : {1, 2}) {
    ASSERT_TRUE(
        test::CommitOne(*store_, test::Start(test::Attempt(sweep, 1, 1))).ok());
  }
  const auto write = [](Store& store, int64_t sweep) {
    int64_t refused = 0;
    for (int64_t step = 0; step < kEach; ++step) {
      const Change points =
          AddPoints{test::Attempt(sweep, 1, 1),
                    {{test::Trial(sweep, 1, 0), "train_loss", step, 1.0}}};
      refused += !test::CommitOne(store, points).ok();
    }
    return refused;
  };
  auto theirs = std::async(std::launch::async, [&] { return write(other, 2); });
  EXPECT_EQ(write(*store_, 1), 0);
  EXPECT_EQ(theirs.get(), 0);
  SQLite::Database reader(path_.string());
  EXPECT_EQ(reader.execAndGet("SELECT count(*) FROM curves").getInt64(),
            2 * kEach);
}

TEST_F(Faults, TheCauseOfARefusalIsToldInFull) {
  ASSERT_TRUE(Add(1, 1).ok());
  SQLite::Database other(path_.string(), SQLite::OPEN_READWRITE);
  sqlite3* ours = connection_->database().getHandle();
  // As a transaction would be that begins with a read.
  connection_->Execute("BEGIN");
  connection_->Execute("SELECT count(*) FROM sweep");
  other.exec("UPDATE sweep SET note = 'x'");
  EXPECT_THROW(connection_->Execute("UPDATE sweep SET note = 'y'"),
               SQLite::Exception);
  EXPECT_EQ(sqlite3_errcode(ours), SQLITE_BUSY_SNAPSHOT)
      << "extended result codes are on";
  connection_->Execute("ROLLBACK");
}

TEST_F(Faults, AReaderOutsideDoesNotStopTheWriter) {
  ASSERT_TRUE(Add(1, 1).ok());
  SQLite::Database other(path_.string());
  SQLite::Statement open(other, "SELECT * FROM cell");
  ASSERT_TRUE(open.executeStep());
  EXPECT_TRUE(Add(2, 10).ok());
}

TEST_F(Faults, ADamagedFileIsDataLossAndNoCrash) {
  ASSERT_TRUE(Add(1, 200).ok());
  store_.reset();
  {
    std::FILE* file = std::fopen(path_.c_str(), "r+b");
    ASSERT_NE(file, nullptr);
    std::fseek(file, 4096, SEEK_SET);
    for (int i = 0; i < 200'000; ++i) std::fputc(0x5a, file);
    std::fclose(file);
  }
  const auto pair = OpenSqliteStore(path_);
  if (!pair.ok()) {
    EXPECT_EQ(pair.status().code(), absl::StatusCode::kDataLoss);
    return;
  }
  EXPECT_EQ(pair->store->LoadUnfinished().status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace leadline::storage
