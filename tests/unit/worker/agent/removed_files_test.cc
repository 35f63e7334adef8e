#include "worker/agent/removed_files.h"

#include <condition_variable>
#include <mutex>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scratch_folder.h"
#include "worker/agent/attempt_folder.h"
#include "worker/agent/checkpoint_folder.h"
#include "worker/agent/hold_record.h"

namespace leadline::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class RemovedFilesTest : public ::testing::Test {
 protected:
  /// An attempt that is held, with a checkpoint of 100 bytes.
  fs::path Make(const std::string& id) {
    const auto key = *ParseAttemptKey(id);
    const fs::path folder = AttemptFolder(files_.state, key);
    EXPECT_TRUE(MakeAttemptFolder(folder).ok());
    EXPECT_TRUE(LinkCheckpoints(files_.checkpoints, key, folder).ok());
    EXPECT_TRUE(WriteHold(folder, {}).ok());
    Append(folder / "events.jsonl", std::string(50, 'x'));
    Append(folder / "checkpoints" / "data", std::string(100, 'x'));
    return folder;
  }
  fs::path MakeTold(const std::string& id) {
    const fs::path folder = Make(id);
    ReleaseHold(folder);
    return folder;
  }
  fs::path Checkpoints(const std::string& cohort) const {
    return files_.checkpoints / cohort;
  }

  ScratchFolder folder_;
  KeptFiles files_{folder_.path() / "state", folder_.path() / "checkpoints"};
};

TEST_F(RemovedFilesTest, AllOfTheSweepGoesAndNothingElse) {
  const auto first = MakeTold("s1.1.c0@1");
  const auto second = MakeTold("s1.2.c0@3");
  const auto other = MakeTold("s11.1.c0@1");
  const RemovedFiles removed = RemoveFilesOf(SweepId{1}, files_);
  EXPECT_EQ(removed.attempts, 2);
  EXPECT_EQ(removed.checkpoints, 2);
  EXPECT_GE(removed.bytes, 300);
  EXPECT_EQ(removed.failed, 0);
  EXPECT_FALSE(fs::exists(first));
  EXPECT_FALSE(fs::exists(second));
  EXPECT_FALSE(fs::exists(Checkpoints("s1.1.c0")));
  EXPECT_TRUE(fs::exists(other / "events.jsonl"));
  EXPECT_TRUE(fs::exists(Checkpoints("s11.1.c0") / "data"));
  EXPECT_EQ(RemoveFilesOf(SweepId{1}, files_), RemovedFiles{});
}

TEST_F(RemovedFilesTest, WhatIsHeldStaysWithItsCheckpoints) {
  const auto held = Make("s1.1.c0@2");
  const auto before = MakeTold("s1.1.c0@1");
  const auto told = MakeTold("s1.2.c0@1");
  const RemovedFiles removed = RemoveFilesOf(SweepId{1}, files_);
  EXPECT_EQ(removed.attempts, 2);
  EXPECT_EQ(removed.checkpoints, 1);
  EXPECT_TRUE(fs::exists(held / "events.jsonl"));
  EXPECT_TRUE(fs::exists(Checkpoints("s1.1.c0") / "data"));
  EXPECT_FALSE(fs::exists(before));
  EXPECT_FALSE(fs::exists(told));
}

TEST_F(RemovedFilesTest, NamesThatAreNoIdsOfOursAreLeftAlone) {
  MakeTold("s1.1.c0@1");
  for (const char* name : {"s1.1.c0@1.old-1", "s1", "s1.1.c0@", "notes"}) {
    fs::create_directories(files_.state / "attempts" / name);
    fs::create_directories(files_.checkpoints / name);
  }
  EXPECT_THAT(KeptSweeps(files_), ElementsAre(SweepId{1}));
  RemoveFilesOf(SweepId{1}, files_);
  EXPECT_TRUE(fs::exists(files_.state / "attempts" / "s1.1.c0@1.old-1"));
  EXPECT_TRUE(fs::exists(files_.checkpoints / "notes"));
  EXPECT_TRUE(KeptSweeps(files_).empty());
}

TEST_F(RemovedFilesTest, ALinkIsRemovedAndNotWhatItLeadsTo) {
  const fs::path elsewhere = folder_.path() / "elsewhere";
  fs::create_directories(elsewhere);
  Append(elsewhere / "precious", "x");
  fs::create_directories(files_.checkpoints);
  fs::create_directory_symlink(elsewhere, Checkpoints("s1.1.c0"));
  RemoveFilesOf(SweepId{1}, files_);
  EXPECT_FALSE(fs::exists(Checkpoints("s1.1.c0")));
  EXPECT_TRUE(fs::exists(elsewhere / "precious"));
}

TEST_F(RemovedFilesTest, ARemoverTellsWhatEachSweepFreed) {
  MakeTold("s3.1.c0@1");
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<SweepId> sweep;
  RemovedFiles removed;
  FileRemover remover(files_, [&](SweepId id, const RemovedFiles& files) {
    const std::lock_guard lock(mutex);
    sweep = id;
    removed = files;
    changed.notify_all();
  });
  remover.Remove(SweepId{3});
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return sweep.has_value(); });
  EXPECT_EQ(*sweep, SweepId{3});
  EXPECT_EQ(removed.attempts, 1);
  EXPECT_GE(removed.bytes, 150);
}

}  // namespace
}  // namespace leadline::agent
