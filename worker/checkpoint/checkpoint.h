// A checkpoint that lies in a folder. Nothing in it is trusted: sizes, offsets
// and names are checked, files are hashed as they are read, links are not
// followed.

#pragma once

#include <filesystem>
#include <string>

#include "worker/checkpoint/manifest.h"
#include "worker/checkpoint/open_file.h"
#include "worker/checkpoint/tensor_file.h"

namespace leadline::checkpoint {

/// An opened checkpoint. Its calls throw BadCheckpoint with a message that
/// names the file that is at fault, and std::system_error where the disk says
/// no. Owned by one thread.
class Checkpoint {
 public:
  /// Reads the manifest alone.
  explicit Checkpoint(const std::filesystem::path& folder);

  const Manifest& manifest() const { return manifest_; }
  /// SHA-256 of manifest.json, which names the hashes of the files: the
  /// checkpoint's identity.
  const std::string& hash() const { return hash_; }
  const std::filesystem::path& folder() const { return folder_.path(); }
  int64_t replicas() const {
    return static_cast<int64_t>(manifest_.replicas.size());
  }

  /// A reader whose tensors all have the replicas' axis.
  TensorReader Parameters() const { return Open(kParametersFile); }

  /// First and second moments, `first.<name>` and `second.<name>`. A checkpoint
  /// that was made without training has none.
  bool has_moments() const { return manifest_.Find(kMomentsFile) != nullptr; }
  TensorReader Moments() const { return Open(kMomentsFile); }

  /// Reads everything once.
  void Verify() const;

 private:
  TensorReader Open(std::string_view file) const;

  OpenFile folder_;
  Manifest manifest_;
  std::string hash_;
};

}  // namespace leadline::checkpoint
