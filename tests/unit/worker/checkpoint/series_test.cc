#include "worker/checkpoint/series.h"

#include <gmock/gmock.h>

#include "tests/unit/worker/checkpoint/small_checkpoint.h"

namespace leadline::checkpoint {
namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SeriesTest : public CheckpointTest {
 protected:
  /// A checkpoint of that step; each replica's best is of the step given.
  void Write(int64_t step, const std::vector<int64_t>& best_steps = {0, 0}) {
    Manifest manifest = SmallManifest({3, 9});
    manifest.step = step;
    for (size_t r = 0; r < best_steps.size(); ++r) {
      manifest.replicas[r].best_step = best_steps[r];
    }
    WriteSmall(series_.FolderOf(step), manifest);
  }

  std::optional<int64_t> Newest() {
    const auto found = series_.NewestWhole(
        [&](const std::string& message) { told_.push_back(message); });
    if (!found) return std::nullopt;
    return found->manifest().step;
  }

  static void Damage(const fs::path& file) {
    std::string bytes = Contents(file);
    bytes[bytes.size() - 3] = static_cast<char>(bytes[bytes.size() - 3] ^ 4);
    Overwrite(file, bytes);
  }

  Series series_{root_ / "checkpoints", SmallManifest({3}).cell_hash, {3, 9}};
  std::vector<std::string> told_;
};

TEST_F(SeriesTest, FolderThatIsNotThereHoldsNone) {
  EXPECT_THAT(series_.Steps(), IsEmpty());
  EXPECT_EQ(Newest(), std::nullopt);
  EXPECT_THAT(series_.Prune({.newest = 1, .best = true}).steps, IsEmpty());
  series_.Remove(5);
  series_.RemoveUnfinished();
}

TEST_F(SeriesTest, NewestIsTheHighestStep) {
  for (const int64_t step : {20, 1'000'000'000, 100}) Write(step);
  EXPECT_THAT(series_.Steps(), ElementsAre(20, 100, 1'000'000'000));
  EXPECT_EQ(Newest(), 1'000'000'000);
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(SeriesTest, DamagedOnesAreSetAsideAndTheOneBeforeIsTaken) {
  for (const int64_t step : {10, 20, 30, 40}) Write(step);
  Damage(series_.FolderOf(40) / kMomentsFile);
  Damage(series_.FolderOf(30) / kManifestFile);
  fs::remove(series_.FolderOf(20) / kParametersFile);
  EXPECT_EQ(Newest(), 10);
  EXPECT_EQ(told_.size(), 3U);
  EXPECT_THAT(told_[0], HasSubstr("set aside as damaged-step-000000040"));
  EXPECT_THAT(series_.Steps(), ElementsAre(10));
  EXPECT_TRUE(fs::exists(series_.root() / "damaged-step-000000030"));

  // Another one of that step is set aside beside it.
  Write(40);
  Damage(series_.FolderOf(40) / kMomentsFile);
  EXPECT_EQ(Newest(), 10);
  EXPECT_TRUE(fs::exists(series_.root() / "damaged-step-000000040.2"));
}

TEST_F(SeriesTest, OtherCellsAndSeedsArePassedOverUntouched) {
  Write(10);
  Manifest other = SmallManifest({3, 9});
  other.cell_hash = std::string(64, 'b');
  WriteSmall(series_.FolderOf(20), other);
  WriteSmall(series_.FolderOf(30), SmallManifest({9, 3}));
  EXPECT_EQ(Newest(), 10);
  EXPECT_EQ(told_.size(), 2U);
  series_.Prune({});
  EXPECT_THAT(series_.Steps(), ElementsAre(20, 30));
}

TEST_F(SeriesTest, WhatIsNoCheckpointIsLeftAlone) {
  Write(10);
  for (const char* name : {"step-", "step-12", "step-00000001x", "notes",
                           "step--00000001", "damaged-step-000000005"}) {
    fs::create_directory(series_.root() / name);
  }
  Overwrite(series_.root() / "step-000000077", "a file");
  fs::create_directory_symlink("step-000000010",
                               series_.root() / "step-000000088");
  EXPECT_THAT(series_.Steps(), ElementsAre(10));
  series_.Prune({.newest = 1, .best = true});
  series_.RemoveUnfinished();
  EXPECT_EQ(std::distance(fs::directory_iterator(series_.root()), {}), 9);
}

TEST_F(SeriesTest, NewestAndBestOfEachReplicaStay) {
  Write(10, {10, 10});
  Write(20, {20, 10});
  Write(30, {20, 30});
  Write(40, {20, 30});
  Write(50, {20, 30});
  Write(60, {20, 30});
  const Series::Freed freed = series_.Prune({.newest = 2, .best = true});
  EXPECT_THAT(freed.steps, ElementsAre(10, 40));
  EXPECT_GT(freed.bytes, 1000);
  EXPECT_THAT(series_.Steps(), ElementsAre(20, 30, 50, 60));
  EXPECT_THAT(series_.Prune({.newest = 2, .best = true}).steps, IsEmpty());
  EXPECT_THAT(series_.Prune({.newest = 3, .best = false}).steps,
              ElementsAre(20));
}

TEST_F(SeriesTest, UnreadableOnesAreNobodysBest) {
  Write(10, {10, 10});
  Write(20);
  Damage(series_.FolderOf(10) / kManifestFile);
  Overwrite(series_.FolderOf(10) / kManifestFile, "no manifest");
  EXPECT_THAT(series_.Prune({.newest = 1, .best = true}).steps,
              ElementsAre(10));
}

TEST_F(SeriesTest, WhatKilledWritersLeftGoes) {
  Write(10);
  const fs::path left = series_.root() / "step-000000020.unfinished-a1b2c3";
  fs::create_directories(left);
  Overwrite(left / "parameters.safetensors", "half");
  series_.RemoveUnfinished();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_THAT(series_.Steps(), ElementsAre(10));
}

}  // namespace
}  // namespace leadline::checkpoint
