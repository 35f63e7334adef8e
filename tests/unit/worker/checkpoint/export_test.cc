#include "worker/checkpoint/export.h"

#include <cstring>

#include <gmock/gmock.h>

#include "common/strict_json.h"
#include "tests/unit/worker/checkpoint/small_checkpoint.h"
#include "worker/checkpoint/bad_checkpoint.h"

namespace leadline::checkpoint {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST_F(CheckpointTest, ExportHoldsOneReplicaWithoutItsAxis) {
  const std::string hash = WriteSmall(root_ / "all", {5, 6, 7});
  const Checkpoint all(root_ / "all");
  EXPECT_EQ(ReplicaOf(all, 6), 1);
  const int64_t bytes = Export(all, 1, root_ / "out");

  const std::string model = Contents(root_ / "out" / kModelFile);
  const std::string config = Contents(root_ / "out" / kConfigFile);
  EXPECT_EQ(bytes, static_cast<int64_t>(model.size() + config.size()));
  EXPECT_THAT(model, HasSubstr(R"("shape":[2,3])"));
  float last = 0;
  std::memcpy(&last, model.data() + model.size() - sizeof last, sizeof last);
  EXPECT_EQ(last, 1 + 2.0F / 8);  // of replica 1, element 2
  const Json json = ParseStrictJson(config, {.what = "it", .levels = 6});
  EXPECT_EQ(FindMember(json, "seed")->text, "6");
  EXPECT_EQ(FindMember(json, "step")->text, "7");
  EXPECT_EQ(FindMember(json, "checkpoint")->text, hash);
}

TEST_F(CheckpointTest, ExportIsThereWholeOrNotAtAll) {
  WriteSmall(root_ / "all", {5, 6});
  const Checkpoint all(root_ / "all");
  EXPECT_THROW(Export(all, 2, root_ / "out"), BadCheckpoint);
  EXPECT_THAT([&] { ReplicaOf(all, 9); },
              ThrowsMessage<BadCheckpoint>(HasSubstr("no replica of seed 9")));
  std::string bytes = Contents(root_ / "all" / kParametersFile);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  Overwrite(root_ / "all" / kParametersFile, bytes);
  EXPECT_THROW(Export(all, 0, root_ / "out"), BadCheckpoint);
  EXPECT_FALSE(std::filesystem::exists(root_ / "out"));
  // Nothing unfinished stays either.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root_), {}), 1);
  std::filesystem::create_directory(root_ / "out");
  EXPECT_THROW(Export(all, 0, root_ / "out"), std::system_error);
}

}  // namespace
}  // namespace leadline::checkpoint
