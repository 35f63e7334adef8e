// A checkpoint of a few tensors, without a model.

#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "worker/checkpoint/checkpoint.h"
#include "worker/checkpoint/draft.h"

namespace leadline::checkpoint {

/// A test with a folder of its own.
class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest();
  ~CheckpointTest() override;

  std::filesystem::path root_;
};

/// What a training of prenorm with these seeds would say at step 7.
Manifest SmallManifest(const std::vector<int64_t>& seeds);

/// Writes `embed` [R, 2, 3] and `final.norm.g` [R, 3] with moments; the values
/// of replica r and element i are r + i / 8. Returns the manifest's hash.
std::string WriteSmall(const std::filesystem::path& folder,
                       const std::vector<int64_t>& seeds);

std::string WriteSmall(const std::filesystem::path& folder, Manifest manifest);

/// All tensors of a file.
std::map<std::string, std::vector<float>> Values(TensorReader reader);

std::string Contents(const std::filesystem::path& file);
void Overwrite(const std::filesystem::path& file, const std::string& bytes);

}  // namespace leadline::checkpoint
