// A kill at any moment of writing a checkpoint leaves one to go on from.

#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/worker/checkpoint/small_checkpoint.h"
#include "worker/checkpoint/series.h"

namespace leadline::checkpoint {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::Eq;

class KillOffsets : public CheckpointTest {
 protected:
  /// Writes the checkpoint of that step, and is killed once so much is on disk;
  /// -1: never. The wait status.
  int Write(int64_t step, int64_t kill_at) const {
    const std::string root = series_.root();
    const std::string number = std::to_string(step);
    const std::string at = std::to_string(kill_at);
    const pid_t child = fork();
    if (child == 0) {
      setenv("LD_PRELOAD", LEADLINE_KILL_AT_WRITE, 1);
      setenv("LEADLINE_KILL_AT", at.c_str(), 1);
      setenv("LEADLINE_CALLS", (root_ / "calls").c_str(), 1);
      if (freopen((root_ / "err").c_str(), "w", stderr) == nullptr) _exit(126);
      execl(LEADLINE_WRITE_SERIES, "write_series", root.c_str(), number.c_str(),
            nullptr);
      _exit(127);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }

  std::optional<int64_t> Newest() const {
    const auto found = series_.NewestWhole([](const std::string&) {});
    if (!found) return std::nullopt;
    return found->manifest().step;
  }

  int64_t CountOf(int64_t step) const {
    EXPECT_EQ(Write(step, -1), 0);
    return std::stoll(Contents(root_ / "err"));
  }

  Series series_{root_ / "checkpoints", SmallManifest({3}).cell_hash, {3, 9}};
};

int Offsets() {
  const char* given = std::getenv("LEADLINE_KILL_OFFSETS");
  return given == nullptr ? 100 : std::atoi(given);
}

TEST_F(KillOffsets, LeaveOneToGoOnFrom) {
  CountOf(10);
  CountOf(20);
  const int64_t count = CountOf(30);  // with the removal of the first
  ASSERT_GT(count, 1500);
  std::mt19937_64 random(20261130);
  int torn = 0;
  for (int i = 0; i < Offsets(); ++i) {
    const int64_t step = 40 + 10 * i;
    // Data are by far the most; every second kill is about the renames and
    // removals behind them.
    const int64_t last = i % 2 == 0 ? count : 12;
    const auto before_end =
        static_cast<int64_t>(random() % static_cast<uint64_t>(last));
    const int64_t at = count - 1 - before_end;
    ASSERT_EQ(WTERMSIG(Write(step, at)), SIGKILL) << at << " of " << count;
    ASSERT_THAT(Newest(), AnyOf(Eq(step - 10), Eq(step))) << "killed at " << at;
    torn += Newest() != step;
    // The next attempt writes the same step, and leaves nothing else behind.
    ASSERT_EQ(Write(step, -1), 0);
    ASSERT_EQ(Newest(), step);
    ASSERT_THAT(series_.Steps(), ElementsAre(step - 10, step));
    ASSERT_EQ(
        std::distance(std::filesystem::directory_iterator(series_.root()), {}),
        2)
        << "killed at " << at;
  }
  EXPECT_GT(torn, Offsets() / 2);
  EXPECT_LT(torn, Offsets() * 9 / 10);
  RecordProperty("kills", Offsets());
  RecordProperty("before_the_checkpoint_was_there", torn);
}

// A kill leaves what was written to the system, a loss of power does not: each
// byte is synced before the name that makes it count, and that name after it.
TEST_F(KillOffsets, NothingGetsItsNameBeforeItIsOnDisk) {
  CountOf(10);
  std::istringstream calls(Contents(root_ / "calls"));
  std::set<std::string> unsynced;
  std::set<std::string> written;
  int renamed = 0;
  for (std::string call, path; calls >> call >> path;) {
    if (call == "write") {
      unsynced.insert({path, std::filesystem::path(path).parent_path()});
      written.insert(path);
    }
    if (call == "sync") unsynced.erase(path);
    if (call != "rename" || path != series_.FolderOf(10)) continue;
    EXPECT_THAT(unsynced, testing::IsEmpty());
    ++renamed;
    unsynced.insert(series_.root());
  }
  EXPECT_EQ(renamed, 1);
  EXPECT_THAT(unsynced, testing::IsEmpty()) << "the folder of the new name";
  EXPECT_EQ(written.size(), 3U) << "parameters, moments, manifest";
}

}  // namespace
}  // namespace leadline::checkpoint
