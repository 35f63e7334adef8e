// The beginning of a file that is being fetched: NAME.part beside it.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace leadline::dataset {

/// Opened, or made empty, for appending. Throws std::system_error, with ENOSPC
/// where the disk is full, and DataError if it is no regular file. What was
/// written stays when it goes. Owned by one thread.
class PartFile {
 public:
  explicit PartFile(std::filesystem::path path);
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile();

  const std::filesystem::path& path() const { return path_; }
  int64_t size() const { return size_; }

  void Append(std::string_view bytes);
  void Clear();
  void Remove() const;

  /// Syncs it and gives it its name, over what stands there.
  void MoveTo(const std::filesystem::path& path) const;

 private:
  std::filesystem::path path_;
  int descriptor_;
  int64_t size_ = 0;
};

/// Throws std::system_error with ENOSPC unless the disk of `folder` has room
/// for `bytes` more. `file` is named in the message.
void RequireSpace(const std::filesystem::path& folder, int64_t bytes,
                  std::string_view file);

}  // namespace leadline::dataset
