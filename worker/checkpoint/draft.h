// A checkpoint that is being written.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "worker/checkpoint/manifest.h"
#include "worker/checkpoint/new_folder.h"
#include "worker/checkpoint/tensor_file.h"

namespace leadline::checkpoint {

/// A checkpoint is there whole or not at all. Throws std::system_error; an
/// unfinished draft goes with its owner. Owned by one thread.
class Draft {
 public:
  /// `folder` must not be there; its parent is made where it is missing.
  explicit Draft(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// kParametersFile or kMomentsFile.
  TensorWriter NewFile(std::string_view name,
                       const std::vector<TensorInfo>& tensors) const {
    return {folder_.File(name), tensors};
  }

  struct Done {
    std::string hash;   // of the manifest
    int64_t bytes = 0;  // of all files
  };

  /// Writes the manifest, which names the files, and gives the folder its name.
  Done Commit(const Manifest& manifest);

 private:
  NewFolder folder_;
};

}  // namespace leadline::checkpoint
