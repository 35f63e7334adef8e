#include "worker/agent/hold_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scratch_folder.h"
#include "worker/agent/attempt_folder.h"

namespace leadline::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const HoldRecord kHold{{"cpu:0", "cpu:3"}, "/data/a \"corpus\"", "cpu"};

class HoldRecordTest : public ::testing::Test {
 protected:
  std::filesystem::path MakeFolder(const std::string& attempt) {
    const auto folder = AttemptFolder(state_.path(), *ParseAttemptKey(attempt));
    EXPECT_TRUE(MakeAttemptFolder(folder).ok());
    return folder;
  }

  ScratchFolder state_;
};

TEST_F(HoldRecordTest, ReadsBackWhatWasWritten) {
  const auto folder = MakeFolder("s1.1.c0@1");
  ASSERT_TRUE(WriteHold(folder, kHold).ok());
  EXPECT_EQ(ReadHold(folder), kHold);
  EXPECT_FALSE(IsReleased(folder));
}

TEST_F(HoldRecordTest, RanksAreOfAWorldThatHoldsThem) {
  const auto folder = MakeFolder("s1.1.c0@1");
  HoldRecord hold = kHold;
  hold.first_rank = 2;
  hold.ranks = 2;
  hold.world_size = 4;
  ASSERT_TRUE(WriteHold(folder, hold).ok());
  EXPECT_EQ(ReadHold(folder), hold);
  hold.world_size = 3;
  ASSERT_TRUE(WriteHold(folder, hold).ok());
  EXPECT_FALSE(ReadHold(folder));
}

TEST_F(HoldRecordTest, IsFoundUntilItIsReleased) {
  EXPECT_THAT(ListHeld(state_.path()), IsEmpty());
  const auto folder = MakeFolder("s1.1.c0@2");
  MakeFolder("s1.2.c0@1");  // of a version without these files
  std::filesystem::create_directories(state_.path() / "attempts" / "other");
  ASSERT_TRUE(WriteHold(folder, kHold).ok());
  EXPECT_THAT(ListHeld(state_.path()),
              ElementsAre(*ParseAttemptKey("s1.1.c0@2")));
  ReleaseHold(folder);
  ReleaseHold(folder);
  EXPECT_TRUE(IsReleased(folder));
  EXPECT_FALSE(ReadHold(folder));
  EXPECT_THAT(ListHeld(state_.path()), IsEmpty());
}

TEST_F(HoldRecordTest, ThatOfANewAttemptInAnOldFolderIsItsOwn) {
  const auto folder = MakeFolder("s1.1.c0@1");
  ASSERT_TRUE(WriteHold(folder, kHold).ok());
  MarkInterrupted(folder);
  MakeFolder("s1.1.c0@1");
  EXPECT_THAT(ListHeld(state_.path()), IsEmpty());
  EXPECT_FALSE(IsInterrupted(folder));
}

TEST_F(HoldRecordTest, RubbishIsNoHold) {
  const auto folder = MakeFolder("s1.1.c0@1");
  for (const std::string text :
       {"", "[]", "{}", R"({"devices":"cpu","dataset_path":"","device":""})",
        R"({"devices":[1],"dataset_path":"","device":""})", "\x01\xff"}) {
    std::ofstream(folder / "held.json", std::ios::trunc) << text;
    EXPECT_FALSE(ReadHold(folder)) << text;
  }
}

}  // namespace
}  // namespace leadline::agent
