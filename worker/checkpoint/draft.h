// A checkpoint that is being written.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "worker/checkpoint/manifest.h"
#include "worker/checkpoint/tensor_file.h"

namespace leadline::checkpoint {

/// In the name of a folder that is no checkpoint yet, or none any more.
inline constexpr std::string_view kUnfinished = ".unfinished-";

/// Files gather in a folder of another name, which is renamed once all of them
/// are on disk: a checkpoint is there whole or not at all. Throws
/// std::system_error; an unfinished draft goes with its owner. Owned by one
/// thread.
class Draft {
 public:
  /// `folder` must not be there; its parent is made where it is missing.
  explicit Draft(std::filesystem::path folder);
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft();

  /// kParametersFile or kMomentsFile.
  TensorWriter NewFile(std::string_view name,
                       const std::vector<TensorInfo>& tensors) const;

  struct Done {
    std::string hash;   // of the manifest
    int64_t bytes = 0;  // of all files
  };

  /// Writes the manifest, which names the files, and gives the folder its name.
  Done Commit(const Manifest& manifest);

 private:
  std::filesystem::path folder_;
  std::string parts_;
  bool done_ = false;
};

}  // namespace leadline::checkpoint
