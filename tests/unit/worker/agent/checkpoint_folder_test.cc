#include "worker/agent/checkpoint_folder.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/scratch_folder.h"
#include "worker/agent/attempt_folder.h"

namespace leadline::agent {
namespace {

namespace fs = std::filesystem;

class CheckpointFolderTest : public ::testing::Test {
 protected:
  fs::path Start(const std::string& id) {
    const AttemptKey key = *ParseAttemptKey(id);
    const fs::path folder = AttemptFolder(state_.path(), key);
    EXPECT_TRUE(MakeAttemptFolder(folder).ok());
    const absl::Status linked = LinkCheckpoints(checkpoints_, key, folder);
    EXPECT_TRUE(linked.ok()) << linked;
    return folder / "checkpoints";
  }

  std::optional<std::string> Find(const std::string& id) const {
    return FindCheckpoints(checkpoints_, *ParseAttemptKey(id));
  }

  ScratchFolder state_;
  fs::path checkpoints_ = state_.path() / "kept";
};

TEST_F(CheckpointFolderTest, AttemptsOfACohortFindEachOthers) {
  EXPECT_EQ(Find("s1.2.c0@2"), std::nullopt);
  fs::create_directory(Start("s1.2.c0@1") / "step-000000010");
  EXPECT_EQ(Find("s1.2.c0@2"), (checkpoints_ / "s1.2.c0").string());
  EXPECT_TRUE(fs::exists(Start("s1.2.c0@2") / "step-000000010"));
  EXPECT_EQ(Find("s1.2.c1@2"), std::nullopt);
  EXPECT_TRUE(fs::is_empty(Start("s1.2.c1@1")));
}

TEST_F(CheckpointFolderTest, FirstAttemptFindsNothingAndHurtsNothing) {
  fs::create_directory(Start("s1.2.c0@1") / "step-000000010");
  EXPECT_EQ(Find("s1.2.c0@1"), std::nullopt);
  EXPECT_TRUE(fs::is_empty(Start("s1.2.c0@1")));
  EXPECT_TRUE(fs::exists(checkpoints_ / "s1.2.c0.old-1" / "step-000000010"));
}

TEST_F(CheckpointFolderTest, ADiskThatSaysNoIsTold) {
  std::ofstream(checkpoints_) << "a file in the way";
  const absl::Status status = LinkCheckpoints(
      checkpoints_, *ParseAttemptKey("s1.2.c0@1"), state_.path());
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
}

TEST_F(CheckpointFolderTest, EmptyAndBrokenLinksLeadToNone) {
  const fs::path link = Start("s1.2.c0@1");
  EXPECT_TRUE(HasNoCheckpoints(link.parent_path()));
  fs::create_directory(link / "step-000000010");
  EXPECT_FALSE(HasNoCheckpoints(link.parent_path()));
  fs::remove_all(checkpoints_);
  EXPECT_TRUE(HasNoCheckpoints(link.parent_path()));
}

}  // namespace
}  // namespace leadline::agent
