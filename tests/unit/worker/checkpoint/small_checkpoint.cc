#include "tests/unit/worker/checkpoint/small_checkpoint.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "model/spec/identity.h"

namespace leadline::checkpoint {
namespace {

FileEntry WriteFile(const Draft& draft, std::string_view name,
                    const std::vector<std::string>& tensors, int64_t replicas) {
  std::vector<TensorInfo> infos;
  for (const std::string& tensor : tensors) {
    TensorInfo info{tensor, TensorType::kFloat32, {replicas, 3}};
    if (tensor.ends_with("embed")) info.shape = {replicas, 2, 3};
    infos.push_back(info);
  }
  TensorWriter writer = draft.NewFile(name, infos);
  for (const TensorInfo& info : infos) {
    const int64_t count = info.count() / replicas;
    for (int64_t r = 0; r < replicas; ++r) {
      for (int64_t i = 0; i < count; ++i) {
        const float value =
            static_cast<float>(r) + static_cast<float>(i) / 8.0F;
        char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        writer.Append({bytes, sizeof value});
      }
    }
  }
  return writer.Finish();
}

}  // namespace

CheckpointTest::CheckpointTest() {
  std::string pattern = testing::TempDir() + "checkpoint_XXXXXX";
  root_ = mkdtemp(pattern.data());
}

CheckpointTest::~CheckpointTest() { std::filesystem::remove_all(root_); }

Manifest SmallManifest(const std::vector<int64_t>& seeds) {
  Manifest manifest;
  manifest.settings = spec::Resolve({{"method", std::string("prenorm")},
                                     {"depth", int64_t{2}},
                                     {"d_model", int64_t{4}},
                                     {"n_heads", int64_t{1}},
                                     {"norm_eps", 1e-6}})
                          .settings;
  manifest.dataset.name = "text";
  manifest.dataset.content_hash = std::string(64, 'a');
  manifest.dataset.tokenizer = "char";
  manifest.vocabulary = 3;
  manifest.alphabet = {U'a', U'\U0001f600'};
  manifest.cell_hash = spec::CellHash(manifest.settings, manifest.dataset);
  manifest.step = 7;
  manifest.interval_steps = 2;
  for (const int64_t seed : seeds) {
    manifest.replicas.push_back({.seed = seed,
                                 .ended = "",
                                 .end_step = 0,
                                 .best_loss = NAN,
                                 .best_step = 0,
                                 .sums = {0.1, INFINITY, 2}});
  }
  return manifest;
}

std::string WriteSmall(const std::filesystem::path& folder,
                       const std::vector<int64_t>& seeds) {
  return WriteSmall(folder, SmallManifest(seeds));
}

std::string WriteSmall(const std::filesystem::path& folder, Manifest manifest) {
  Draft draft(folder);
  const auto replicas = static_cast<int64_t>(manifest.replicas.size());
  manifest.files.push_back(
      WriteFile(draft, kParametersFile, {"embed", "final.norm.g"}, replicas));
  manifest.files.push_back(WriteFile(draft, kMomentsFile,
                                     {"first.embed", "first.final.norm.g",
                                      "second.embed", "second.final.norm.g"},
                                     replicas));
  return draft.Commit(manifest).hash;
}

std::map<std::string, std::vector<float>> Values(TensorReader reader) {
  std::map<std::string, std::vector<float>> values;
  for (const TensorInfo& tensor : reader.tensors()) {
    std::vector<float>& numbers = values[tensor.name];
    numbers.resize(static_cast<size_t>(tensor.count()));
    reader.Read(reinterpret_cast<char*>(numbers.data()), tensor.bytes());
  }
  reader.Finish();
  return values;
}

std::string Contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

void Overwrite(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace leadline::checkpoint
