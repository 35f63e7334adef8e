#include "worker/checkpoint/draft.h"

#include "common/sha256.h"

namespace leadline::checkpoint {

Draft::Done Draft::Commit(const Manifest& manifest) {
  const std::string text = ManifestJson(manifest);
  folder_.WriteFile(kManifestFile, text);
  folder_.Publish();
  Done done{Sha256Of(text), static_cast<int64_t>(text.size())};
  for (const FileEntry& file : manifest.files) done.bytes += file.bytes;
  return done;
}

}  // namespace leadline::checkpoint
