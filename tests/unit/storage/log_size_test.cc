// The write-ahead log stays short, and so does the wait of those who write.

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "storage/open.h"
#include "tests/support/store_world.h"

namespace leadline::storage {
namespace {

constexpr int64_t kMega = 1 << 20;

class LogSize : public ::testing::Test {
 protected:
  LogSize() : pair_(OpenSqliteStore(path_).value()) {
    EXPECT_TRUE(test::CommitOne(*pair_.store, test::MakeSweep(1, 9, 5)).ok());
  }

  int64_t log_bytes() const { return pair_.reader->Size()->log_bytes; }

  /// So much through the log; the most it had.
  int64_t WriteMany(int64_t megabytes) {
    int64_t most = 0;
    for (int64_t i = 0; i < 2 * megabytes; ++i) {
      const KeepAnswer answer{"request " + std::to_string(++answers_),
                              std::string(kMega / 2, 'x'),
                              {}};
      EXPECT_TRUE(test::CommitOne(*pair_.store, answer).ok());
      most = std::max(most, log_bytes());
    }
    return most;
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "leadline.db";
  StorePair pair_;
  int64_t answers_ = 0;
};

/// Through the log while something is in its way.
int64_t Megabytes() {
  const char* given = std::getenv("LEADLINE_LOG_MEGABYTES");
  return given == nullptr ? 40 : std::atoll(given);
}

TEST_F(LogSize, StaysSmallUnderReadersThatNeverStop) {
  std::atomic<bool> stop = false;
  std::vector<std::jthread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        EXPECT_TRUE(
            pair_.reader->Curve(test::Trial(1, 1, 0), "train_loss", -1, 20'000)
                .ok());
      }
    });
  }
  EXPECT_LT(WriteMany(Megabytes()), 24 * kMega);
  stop = true;
}

TEST_F(LogSize, GrowsUnderACursorHeldOutsideAndShrinksWhenItHasGone) {
  {
    SQLite::Database outside(path_.string());
    SQLite::Statement cursor(outside, "SELECT * FROM trial");
    ASSERT_TRUE(cursor.executeStep());
    // The writer goes on, and whoever looks sees how large the log has become.
    EXPECT_GT(WriteMany(Megabytes()), 24 * kMega);
  }
  WriteMany(20);
  EXPECT_LT(log_bytes(), 24 * kMega);
}

TEST_F(LogSize, OfARecordInMemoryIsNone) {
  const StorePair memory = MakeMemoryStore();
  EXPECT_EQ(memory.reader->Size()->database_bytes, 0);
  EXPECT_GT(pair_.reader->Size()->database_bytes, 0);
}

}  // namespace
}  // namespace leadline::storage
