// A safetensors file, written and read once from front to back, hashed on the
// way.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/sha256.h"
#include "worker/checkpoint/manifest.h"
#include "worker/checkpoint/open_file.h"
#include "worker/checkpoint/tensor_layout.h"

namespace leadline::checkpoint {

/// Owned by one thread.
class TensorWriter {
 public:
  /// Makes the file. Throws std::system_error.
  TensorWriter(const std::filesystem::path& file,
               const std::vector<TensorInfo>& tensors);

  /// Row-major data of the tensors in their order, in pieces of any size.
  void Append(std::string_view bytes);

  /// What the manifest says of the file, which is on disk when this returns.
  /// Throws std::logic_error unless every tensor was appended.
  FileEntry Finish();

 private:
  void Put(std::string_view bytes);

  OpenFile file_;
  Sha256 hash_;
  int64_t missing_ = 0;
  int64_t bytes_ = 0;
};

/// Owned by one thread.
class TensorReader {
 public:
  /// Reads the header. Throws BadCheckpoint, also if the size is not that of
  /// `expected`.
  TensorReader(const OpenFile& folder, FileEntry expected);

  /// In the order of their data.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }

  /// Fills `to` with the next `size` bytes of the tensors' data.
  void Read(char* to, int64_t size);

  /// Throws BadCheckpoint if the file has another hash than `expected`: what
  /// was read is then not to be used. Skips what was not read.
  void Finish();

 private:
  [[noreturn]] void Refuse(const std::string& what) const;

  OpenFile file_;
  FileEntry expected_;
  Sha256 hash_;
  int64_t left_ = 0;
  std::vector<TensorInfo> tensors_;
};

}  // namespace leadline::checkpoint
