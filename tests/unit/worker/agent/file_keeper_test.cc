#include "worker/agent/file_keeper.h"

#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scratch_folder.h"
#include "worker/agent/attempt_folder.h"
#include "worker/agent/checkpoint_folder.h"
#include "worker/agent/hold_record.h"

namespace leadline::agent {
namespace {

namespace fs = std::filesystem;

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
  RemoveFilesOf(SweepId{1}, files_);
  EXPECT_TRUE(fs::exists(files_.state / "attempts" / "s1.1.c0@1.old-1"));
  EXPECT_TRUE(fs::exists(files_.checkpoints / "notes"));
  EXPECT_FALSE(fs::exists(files_.state / "attempts" / "s1.1.c0@1"));
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

/// What a keeper said, waited for.
struct Told {
  void Add(const std::string& text) {
    const std::lock_guard lock(mutex);
    said.push_back(text);
    changed.notify_all();
  }
  std::vector<std::string> Await(size_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return said.size() >= count; });
    return said;
  }
  FileKeeper::Sinks Sinks() {
    return {[this](SweepId sweep, const RemovedFiles& files) {
              Add(ToText(sweep) + " " + std::to_string(files.attempts) + " " +
                  std::to_string(files.bytes));
            },
            [this](const FilesWeighed& weighed) {
              Add(std::to_string(weighed.tag.stream) + ":" +
                  std::to_string(weighed.tag.request) + " " +
                  std::to_string(weighed.size.attempts) + " " +
                  std::to_string(weighed.size.bytes));
            }};
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> said;
};

using FileKeeperTest = RemovedFilesTest;

TEST_F(FileKeeperTest, TellsWhatIsKeptAndThenWhatOfItWentAway) {
  MakeTold("s3.1.c0@1");
  Told told;
  FileKeeper keeper(files_, told.Sinks());
  keeper.Weigh({7, 8}, {SweepId{3}, SweepId{4}});
  const std::string kept = told.Await(1)[0];
  EXPECT_EQ(kept.substr(0, 6), "7:8 1 ");
  const std::string bytes = kept.substr(6);
  EXPECT_GE(std::stoll(bytes), 150);
  keeper.Remove(SweepId{3});
  EXPECT_EQ(told.Await(2)[1], "s3 1 " + bytes);
}

/// A keeper that is busy until it is let go.
class BusyFileKeeperTest : public RemovedFilesTest {
 protected:
  BusyFileKeeperTest() {
    MakeTold("s3.1.c0@1");
    keeper_.Remove(SweepId{9});
    told_.Await(1);
  }
  ~BusyFileKeeperTest() override {
    if (!is_let_go_) LetGo();
  }
  FileKeeper::Sinks Sinks() {
    FileKeeper::Sinks sinks = told_.Sinks();
    sinks.removed = [this, tell = sinks.removed](SweepId sweep,
                                                 const RemovedFiles& files) {
      tell(sweep, files);
      if (sweep == SweepId{9}) gone_.wait();
    };
    return sinks;
  }
  void LetGo() {
    is_let_go_ = true;
    go_.set_value();
  }
  /// What was said since it was busy, up to that.
  std::vector<std::string> SaidUntil(const std::string& last) {
    for (size_t count = 2;; ++count) {
      const std::vector<std::string> said = told_.Await(count);
      if (!said[count - 1].starts_with(last)) continue;
      return {said.begin() + 1, said.begin() + static_cast<int64_t>(count)};
    }
  }

  std::promise<void> go_;
  std::shared_future<void> gone_ = go_.get_future();
  bool is_let_go_ = false;
  Told told_;
  FileKeeper keeper_{files_, Sinks()};
};

TEST_F(BusyFileKeeperTest, AllWhoAskTheSameAreAnsweredByOneWalk) {
  for (int64_t request = 1; request <= 100; ++request) {
    keeper_.Weigh({1, request}, {SweepId{3}});
  }
  keeper_.Remove(SweepId{3});
  LetGo();
  const auto said = SaidUntil("s3 ");
  ASSERT_EQ(said.size(), 101U);
  EXPECT_TRUE(said[0].starts_with("1:1 1 ")) << said[0];
  EXPECT_TRUE(said[99].starts_with("1:100 1 ")) << said[99];
}

TEST_F(BusyFileKeeperTest, ManyDifferentQuestionsKeepNoRemovalWaiting) {
  for (int64_t request = 1; request <= 200; ++request) {
    keeper_.Weigh({1, request}, {SweepId{3 + request}});
  }
  keeper_.Remove(SweepId{3});
  LetGo();
  const auto said = SaidUntil("s3 ");
  ASSERT_EQ(said.size(), 2U);  // after one of them
  EXPECT_TRUE(said[0].starts_with("1:1 0 ")) << said[0];
  EXPECT_EQ(SaidUntil("1:64 ").size(), 65U);  // and the rest of those it took
}

}  // namespace
}  // namespace leadline::agent
