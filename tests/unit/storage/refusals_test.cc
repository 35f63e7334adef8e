// The disk refuses below SQLite, at each thing a commit asks of it: the commit
// is taken back whole, the next one works, and nothing acknowledged is lost.

#include <string>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "storage/open.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/store_world.h"

namespace leadline::storage {
namespace {

using test::DiskCall;
using test::FaultyVfs;

struct Refusal {
  std::string name;
  DiskCall call;
  int code;
};

class Refusals : public ::testing::TestWithParam<Refusal> {
 protected:
  Refusals() { Open(); }

  void Open() { pair_ = OpenSqliteStore(path_).value(); }

  std::string Contents() const { return test::Dump(pair_, {"train_loss"}); }

  /// The `number`-th call of the commit is refused; true if there was one.
  bool CommitWithRefusal(int64_t sweep, int number) {
    const std::string before = Contents();
    FaultyVfs::Refuse(GetParam().call, number, GetParam().code);
    const absl::Status status =
        test::CommitOne(*pair_.store, test::MakeSweep(sweep, 20, 3));
    const bool refused = FaultyVfs::Relent();
    // A checkpoint after the commit may be refused; that harms nothing.
    if (!status.ok()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
      EXPECT_EQ(Contents(), before) << "half a commit, call " << number;
      EXPECT_TRUE(
          test::CommitOne(*pair_.store, test::MakeSweep(sweep, 20, 3)).ok())
          << "the next commit, call " << number;
    }
    return refused;
  }

  FaultyVfs vfs_;  // before whatever opens files
  test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "leadline.db";
  StorePair pair_;
};

TEST_P(Refusals, AtAnyCallOfACommitTakeItBackWholeAndLoseNothing) {
  constexpr int kMostCalls = 400;
  int64_t sweep = 0;
  int number = 0;
  while (number < kMostCalls && CommitWithRefusal(++sweep, number)) {
    // Near the beginning every call, then some.
    number += number < 6 ? 1 : 9;
  }
  EXPECT_GT(number, 0) << "nothing was refused";
  EXPECT_LT(number, kMostCalls) << "no commit ever came through";
  const std::string acknowledged = Contents();
  pair_ = {};
  Open();
  EXPECT_EQ(Contents(), acknowledged);
  EXPECT_EQ(pair_.reader->CountSweeps().value(), sweep);
}

// A lock that stays refused is waited for by SQLite itself, for long.
class LastingRefusals : public Refusals {};

TEST_P(LastingRefusals, StoreNothingWhileTheyLastAndThenEverything) {
  ASSERT_TRUE(test::CommitOne(*pair_.store, test::MakeSweep(1, 2, 2)).ok());
  const std::string before = Contents();
  FaultyVfs::Refuse(GetParam().call, 0, GetParam().code, true);
  for (int i = 0; i < 3; ++i) {
    const absl::Status status =
        test::CommitOne(*pair_.store, test::MakeSweep(2, 300, 5));
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  }
  EXPECT_TRUE(FaultyVfs::Relent());
  EXPECT_EQ(Contents(), before);
  EXPECT_TRUE(test::CommitOne(*pair_.store, test::MakeSweep(2, 300, 5)).ok());
  EXPECT_EQ(pair_.store->LoadSweep({2})->cells.size(), 300U);
}

const Refusal kFull{"FullAtWrite", DiskCall::kWrite, SQLITE_FULL};
const Refusal kWrite{"IoErrorAtWrite", DiskCall::kWrite, SQLITE_IOERR_WRITE};
const Refusal kSync{"IoErrorAtSync", DiskCall::kSync, SQLITE_IOERR_FSYNC};
const Refusal kBusy{"BusyAtLock", DiskCall::kLock, SQLITE_BUSY};

INSTANTIATE_TEST_SUITE_P(Codes, Refusals,
                         ::testing::Values(kFull, kWrite, kSync, kBusy),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Codes, LastingRefusals,
                         ::testing::Values(kFull, kWrite, kSync),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace leadline::storage
