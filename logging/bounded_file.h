// A log file of bounded size, with a few older ones beside it, that survives a
// full disk.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace leadline {

struct BoundedFileLimits {
  int64_t bytes = int64_t{8} << 20;  // of one file
  int older = 3;                     // NAME.1 is the newest of them
};

/// Lines are appended whole: one that does not fit on the disk leaves nothing
/// behind. Owned by one thread.
class BoundedFile {
 public:
  explicit BoundedFile(std::filesystem::path path,
                       BoundedFileLimits limits = {});
  ~BoundedFile();
  BoundedFile(const BoundedFile&) = delete;
  BoundedFile& operator=(const BoundedFile&) = delete;

  /// Opens or makes the file (mode 0600); false with errno set if it cannot.
  bool Open();

  /// False if the line is lost: no room, or no file. The next one is tried
  /// anew.
  bool Append(std::string_view line);

  const std::filesystem::path& path() const { return path_; }

 private:
  void Rotate();
  std::filesystem::path Older(int number) const;

  const std::filesystem::path path_;
  const BoundedFileLimits limits_;
  int file_ = -1;
  int64_t size_ = 0;
};

}  // namespace leadline
