#include "worker/checkpoint/checkpoint.h"

#include "common/sha256.h"
#include "worker/checkpoint/bad_checkpoint.h"

namespace leadline::checkpoint {
namespace {

std::string ReadManifest(const OpenFile& folder) {
  const OpenFile file = OpenFile::In(folder, std::string(kManifestFile));
  const int64_t bytes = file.Bytes();
  if (bytes > kMostManifestBytes) {
    throw BadCheckpoint(file.path().string() + " has " + std::to_string(bytes) +
                        " bytes");
  }
  std::string text(static_cast<size_t>(bytes), '\0');
  file.Read(text.data(), bytes);
  return text;
}

}  // namespace

Checkpoint::Checkpoint(const std::filesystem::path& folder)
    : folder_(OpenFile::Folder(folder)) {
  const std::string text = ReadManifest(folder_);
  hash_ = Sha256Of(text);
  try {
    manifest_ = ParseManifest(text);
  } catch (const BadCheckpoint& bad) {
    throw BadCheckpoint((folder / kManifestFile).string() + ": " + bad.what());
  }
}

TensorReader Checkpoint::Open(std::string_view file) const {
  const FileEntry* entry = manifest_.Find(file);
  if (entry == nullptr) {
    throw BadCheckpoint(folder().string() + " has no " + std::string(file));
  }
  TensorReader reader(folder_, *entry);
  for (const TensorInfo& tensor : reader.tensors()) {
    if (tensor.shape.front() == replicas()) continue;
    throw BadCheckpoint((folder() / file).string() + ": tensor " + tensor.name +
                        " is " + ToText(tensor) + ", of " +
                        std::to_string(replicas()) + " replicas");
  }
  return reader;
}

void Checkpoint::Verify() const {
  for (const FileEntry& file : manifest_.files) Open(file.name).Finish();
}

}  // namespace leadline::checkpoint
