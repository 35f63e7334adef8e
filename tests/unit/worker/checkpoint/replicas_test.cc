#include "worker/checkpoint/replicas.h"

#include <gmock/gmock.h>

#include "tests/unit/worker/checkpoint/small_checkpoint.h"
#include "worker/checkpoint/bad_checkpoint.h"

namespace leadline::checkpoint {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST_F(CheckpointTest, SplittingAndJoiningGivesTheSameBytes) {
  const std::string hash = WriteSmall(root_ / "all", {5, 6, 7});
  const Checkpoint all(root_ / "all");
  for (int64_t r = 0; r < 3; ++r) {
    SplitOff(all, r, root_ / std::to_string(r));
  }
  const Checkpoint first(root_ / "0");
  const Checkpoint second(root_ / "1");
  const Checkpoint third(root_ / "2");
  EXPECT_EQ(second.manifest().Seeds(), std::vector<int64_t>{6});
  EXPECT_EQ(Values(second.Parameters()).at("embed").front(), 1);
  EXPECT_EQ(Join({&first, &second, &third}, root_ / "again"), hash);
}

TEST_F(CheckpointTest, WhatDoesNotBelongTogetherIsNotJoined) {
  WriteSmall(root_ / "a", {5});
  WriteSmall(root_ / "b", {5});
  const Checkpoint a(root_ / "a");
  const Checkpoint b(root_ / "b");
  EXPECT_THAT(
      [&] {
        Join({&a, &b}, root_ / "c");
      },
      ThrowsMessage<BadCheckpoint>(HasSubstr("both hold the seed 5")));
  EXPECT_THROW(Join({}, root_ / "c"), BadCheckpoint);
  EXPECT_THROW(SplitOff(a, 1, root_ / "c"), BadCheckpoint);
  EXPECT_FALSE(std::filesystem::exists(root_ / "c"));
}

TEST_F(CheckpointTest, DamagedOneIsNotSplit) {
  WriteSmall(root_ / "a", {5, 6});
  std::string bytes = Contents(root_ / "a" / kParametersFile);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  Overwrite(root_ / "a" / kParametersFile, bytes);
  EXPECT_THROW(SplitOff(Checkpoint(root_ / "a"), 0, root_ / "c"),
               BadCheckpoint);
  EXPECT_FALSE(std::filesystem::exists(root_ / "c"));
}

}  // namespace
}  // namespace leadline::checkpoint
