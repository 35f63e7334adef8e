#include "worker/checkpoint/checkpoint.h"

#include <cmath>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "common/sha256.h"
#include "tests/unit/worker/checkpoint/small_checkpoint.h"
#include "worker/checkpoint/bad_checkpoint.h"

namespace leadline::checkpoint {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST_F(CheckpointTest, ReadsBackWhatWasWritten) {
  const std::string hash = WriteSmall(root_ / "c", {3, 9});
  const Checkpoint read(root_ / "c");
  EXPECT_EQ(read.hash(), hash);
  EXPECT_EQ(hash, Sha256Of(Contents(root_ / "c" / kManifestFile)));
  EXPECT_EQ(read.manifest().step, 7);
  EXPECT_EQ(read.manifest().Seeds(), (std::vector<int64_t>{3, 9}));
  EXPECT_TRUE(read.has_moments());
  const auto values = Values(read.Parameters());
  EXPECT_EQ(values.at("embed").size(), 12U);
  EXPECT_EQ(values.at("embed")[7], 1 + 1 / 8.0F);
  EXPECT_EQ(Values(read.Moments()).size(), 4U);
  read.Verify();
}

TEST_F(CheckpointTest, NothingButTheFilesIsLeft) {
  WriteSmall(root_ / "c", {3});
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(root_)) {
    names.push_back(fs::relative(entry.path(), root_).string());
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("c", "c/manifest.json",
                                                   "c/moments.safetensors",
                                                   "c/parameters.safetensors"));
}

TEST_F(CheckpointTest, UnfinishedDraftIsGoneWithItsOwner) {
  {
    const Draft draft(root_ / "c");
    TensorWriter writer = draft.NewFile(
        kParametersFile, {{"embed", TensorType::kFloat32, {1, 3}}});
    writer.Append("1234");
    EXPECT_THROW(writer.Finish(), std::logic_error);
  }
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(CheckpointTest, NothingIsWrittenOver) {
  WriteSmall(root_ / "c", {3});
  EXPECT_THROW(WriteSmall(root_ / "c", {3}), std::system_error);
  fs::create_directory(root_ / "empty");
  EXPECT_THROW(WriteSmall(root_ / "empty", {3}), std::system_error);
  fs::create_symlink("nowhere", root_ / "link");
  EXPECT_THROW(WriteSmall(root_ / "link", {3}), std::system_error);
}

void ExpectRefused(const fs::path& folder, const std::string& file,
                   const std::string& words) {
  EXPECT_THAT([&] { Checkpoint(folder).Verify(); },
              ThrowsMessage<BadCheckpoint>(AllOf(
                  HasSubstr((folder / file).string()), HasSubstr(words))));
}

TEST_F(CheckpointTest, EveryDamagedByteIsSeenAndTheFileNamed) {
  WriteSmall(root_ / "c", {3});
  const std::string file(kParametersFile);
  const std::string good = Contents(root_ / "c" / file);
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    Overwrite(root_ / "c" / file, bad);
    ExpectRefused(root_ / "c", file, "");
  }
  for (const size_t size : {size_t{0}, size_t{7}, good.size() - 1}) {
    Overwrite(root_ / "c" / file, good.substr(0, size));
    ExpectRefused(root_ / "c", file, "the manifest says");
  }
  Overwrite(root_ / "c" / file, good + "x");
  ExpectRefused(root_ / "c", file, "the manifest says");
  Overwrite(root_ / "c" / file, good);
  Checkpoint(root_ / "c").Verify();
}

TEST_F(CheckpointTest, MissingFilesAreNamed) {
  EXPECT_THROW(Checkpoint{root_ / "c"}, BadCheckpoint);
  fs::create_directory(root_ / "c");
  ExpectRefused(root_ / "c", "manifest.json", "No such file");
  fs::remove(root_ / "c");
  WriteSmall(root_ / "c", {3});
  fs::remove(root_ / "c" / kMomentsFile);
  ExpectRefused(root_ / "c", "moments.safetensors", "No such file");
}

TEST_F(CheckpointTest, LinksPipesAndFoldersAreNotRead) {
  WriteSmall(root_ / "c", {3});
  const fs::path file = root_ / "c" / kParametersFile;
  fs::rename(file, root_ / "elsewhere");
  fs::create_symlink(root_ / "elsewhere", file);
  ExpectRefused(root_ / "c", "parameters.safetensors", "symbolic link");
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  ExpectRefused(root_ / "c", "parameters.safetensors", "no regular file");
  fs::remove(file);
  fs::create_directory(file);
  ExpectRefused(root_ / "c", "parameters.safetensors", "no regular file");
}

TEST_F(CheckpointTest, HugeManifestIsRefusedUnread) {
  WriteSmall(root_ / "c", {3});
  fs::resize_file(root_ / "c" / kManifestFile, uint64_t{1} << 40U);
  ExpectRefused(root_ / "c", "manifest.json", "1099511627776 bytes");
}

TEST_F(CheckpointTest, HugeHeaderIsRefused) {
  WriteSmall(root_ / "c", {3});
  std::string bytes = Contents(root_ / "c" / kParametersFile);
  bytes.replace(0, 8, std::string(7, '\xff') + '\x7f');
  Overwrite(root_ / "c" / kParametersFile, bytes);
  ExpectRefused(root_ / "c", "parameters.safetensors", "a header of");
}

TEST_F(CheckpointTest, TensorsOfOtherReplicasAreRefused) {
  {
    Draft draft(root_ / "c");
    Manifest manifest = SmallManifest({3, 4});
    TensorWriter writer = draft.NewFile(
        kParametersFile, {{"embed", TensorType::kFloat32, {1, 1}}});
    writer.Append("1234");
    manifest.files.push_back(writer.Finish());
    draft.Commit(manifest);
  }
  ExpectRefused(root_ / "c", "parameters.safetensors", "of 2 replicas");
}

}  // namespace
}  // namespace leadline::checkpoint
