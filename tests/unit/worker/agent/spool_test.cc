#include "worker/agent/spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scratch_folder.h"
#include "worker/agent/attempt_folder.h"
#include "worker/agent/hold_record.h"

namespace leadline::agent {
namespace {

using std::chrono::hours;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Time = std::chrono::system_clock::time_point;

ToldAttempt Told(const std::string& name, int64_t bytes, int64_t hour) {
  return {name, bytes, Time(hours(hour))};
}

TEST(ChooseForRemoval, KeepsWhatIsYoungAndFits) {
  SpoolPolicy policy;
  policy.keep = hours(100);
  policy.keep_bytes = 1000;
  EXPECT_THAT(ChooseForRemoval({Told("a", 500, 10), Told("b", 500, 20)}, policy,
                               Time(hours(110))),
              IsEmpty());
}

TEST(ChooseForRemoval, TheOldestGoFirstUntilTheRestFits) {
  SpoolPolicy policy;
  policy.keep = hours(100);
  policy.keep_bytes = 1000;
  EXPECT_THAT(ChooseForRemoval({Told("new", 900, 30), Told("oldest", 10, 10),
                                Told("old", 200, 20)},
                               policy, Time(hours(40))),
              ElementsAre("oldest", "old"));
}

TEST(ChooseForRemoval, WhatIsTooOldGoesHoweverSmall) {
  SpoolPolicy policy;
  policy.keep = hours(100);
  EXPECT_THAT(ChooseForRemoval({Told("old", 1, 10), Told("new", 1, 50)}, policy,
                               Time(hours(111))),
              ElementsAre("old"));
}

TEST(ChooseForRemoval, OneAloneThatIsTooLargeGoesToo) {
  SpoolPolicy policy;
  policy.keep_bytes = 10;
  EXPECT_THAT(ChooseForRemoval({Told("large", 11, 0)}, policy, Time(hours(1))),
              ElementsAre("large"));
}

class SpoolTest : public ::testing::Test {
 protected:
  std::filesystem::path MakeAttempt(const std::string& id) {
    const auto folder = AttemptFolder(state_.path(), *ParseAttemptKey(id));
    EXPECT_TRUE(MakeAttemptFolder(folder).ok());
    EXPECT_TRUE(WriteHold(folder, {}).ok());
    Append(folder / "events.jsonl", "{}\n");
    Append(folder / "config.json", "{}\n");
    return folder;
  }

  ScratchFolder state_;
};

TEST_F(SpoolTest, WhatIsNotToldForCertainIsNeverListed) {
  const auto held = MakeAttempt("s1.1.c0@1");
  const auto told = MakeAttempt("s1.2.c0@1");
  const auto other = MakeAttempt("s1.3.c0@1");
  std::filesystem::remove(other / "held.json");  // of an earlier version
  ReleaseHold(told);
  const auto listed = ListTold(state_.path());
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].folder, told);
  EXPECT_EQ(listed[0].bytes, 3);
}

TEST_F(SpoolTest, OnesMovedAsideAreListedToo) {
  ReleaseHold(MakeAttempt("s1.1.c0@1"));
  MakeAttempt("s1.1.c0@1");
  const auto listed = ListTold(state_.path());
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_THAT(listed[0].folder.string(), HasSubstr(".old-1"));
}

TEST_F(SpoolTest, RemovalLeavesCheckpointsAndNothingElse) {
  const auto plain = MakeAttempt("s1.1.c0@1");
  const auto rich = MakeAttempt("s1.2.c0@1");
  std::filesystem::create_directories(rich / "checkpoints" / "step-1");
  ReleaseHold(plain);
  ReleaseHold(rich);
  RemoveSpool(plain);
  RemoveSpool(rich);
  EXPECT_FALSE(std::filesystem::exists(plain));
  EXPECT_FALSE(std::filesystem::exists(rich / "events.jsonl"));
  EXPECT_TRUE(std::filesystem::exists(rich / "checkpoints" / "step-1"));
  EXPECT_THAT(ListTold(state_.path()), IsEmpty());
}

TEST_F(SpoolTest, TooLittleRoomIsSaidWithItsFigures) {
  EXPECT_TRUE(CheckFreeSpace(state_.path(), {.least = 1}).ok());
  const absl::Status status =
      CheckFreeSpace(state_.path(), {.least = int64_t{1} << 60});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("MB are free in"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("1152921504607 MB"));
  const absl::Status both = CheckFreeSpace(
      state_.path(), {.least = 1, .checkpoints = int64_t{1} << 60});
  EXPECT_THAT(std::string(both.message()), HasSubstr("for its checkpoints"));
  EXPECT_TRUE(CheckFreeSpace("/nonexistent", {.least = int64_t{1} << 60}).ok());
}

}  // namespace
}  // namespace leadline::agent
