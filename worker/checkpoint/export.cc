#include "worker/checkpoint/export.h"

#include <string>
#include <vector>

#include "model/spec/identity.h"
#include "model/spec/json_text.h"
#include "worker/checkpoint/bad_checkpoint.h"
#include "worker/checkpoint/new_folder.h"
#include "worker/checkpoint/tensor_file.h"

namespace leadline::checkpoint {
namespace {

using spec::JsonText;

constexpr int kFormat = 1;

FileEntry WriteModel(const Checkpoint& from, int64_t replica,
                     const NewFolder& folder) {
  TensorReader reader = from.Parameters();
  std::vector<TensorInfo> tensors = reader.tensors();
  for (TensorInfo& tensor : tensors) tensor.shape.erase(tensor.shape.begin());
  TensorWriter writer(folder.File(kModelFile), tensors);
  for (const TensorInfo& tensor : tensors) {
    std::string bytes(static_cast<size_t>(tensor.bytes()), '\0');
    for (int64_t r = 0; r < from.replicas(); ++r) {
      reader.Read(bytes.data(), tensor.bytes());
      if (r == replica) writer.Append(bytes);
    }
  }
  reader.Finish();
  return writer.Finish();
}

std::string AlphabetJson(const Manifest& manifest) {
  std::string json = "[";
  for (const char32_t symbol : manifest.alphabet) {
    if (json.size() > 1) json += ',';
    json += std::to_string(static_cast<uint32_t>(symbol));
  }
  return json + ']';
}

std::string ConfigJson(const Checkpoint& from, int64_t replica,
                       const FileEntry& model) {
  const Manifest& manifest = from.manifest();
  const ReplicaProgress& progress =
      manifest.replicas[static_cast<size_t>(replica)];
  std::string json = "{\"format\":" + std::to_string(kFormat);
  json += ",\n\"settings\":" + spec::SettingsJson(manifest.settings);
  json += ",\n\"tokenizer\":" + JsonText(manifest.dataset.tokenizer);
  json += ",\n\"vocabulary\":" + std::to_string(manifest.vocabulary);
  json += ",\n\"alphabet\":" + AlphabetJson(manifest);
  json += ",\n\"dataset\":" + JsonText(manifest.dataset.name);
  json += ",\n\"seed\":" + std::to_string(progress.seed);
  json += ",\n\"step\":" + std::to_string(manifest.step);
  json += ",\n\"cell_hash\":" + JsonText(manifest.cell_hash);
  json += ",\n\"checkpoint\":" + JsonText(from.hash());
  json += ",\n\"model\":{\"file\":" + JsonText(model.name) +
          ",\"bytes\":" + std::to_string(model.bytes) +
          ",\"sha256\":" + JsonText(model.sha256) + "}";
  return json + "}\n";
}

}  // namespace

int64_t ReplicaOf(const Checkpoint& from, int64_t seed) {
  const std::vector<int64_t> seeds = from.manifest().Seeds();
  for (size_t r = 0; r < seeds.size(); ++r) {
    if (seeds[r] == seed) return static_cast<int64_t>(r);
  }
  throw BadCheckpoint(from.folder().string() + " has no replica of seed " +
                      std::to_string(seed));
}

int64_t Export(const Checkpoint& from, int64_t replica,
               const std::filesystem::path& to) {
  if (replica < 0 || replica >= from.replicas()) {
    throw BadCheckpoint(from.folder().string() + " has no replica " +
                        std::to_string(replica));
  }
  NewFolder folder(to);
  const FileEntry model = WriteModel(from, replica, folder);
  const std::string config = ConfigJson(from, replica, model);
  folder.WriteFile(kConfigFile, config);
  folder.Publish();
  return model.bytes + static_cast<int64_t>(config.size());
}

}  // namespace leadline::checkpoint
