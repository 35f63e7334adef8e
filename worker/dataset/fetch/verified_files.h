// Which files were hashed already and have not changed since: a large text is
// not hashed anew for every attempt.

#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>

namespace leadline::dataset {

/// What of a file changes when it is written or replaced.
using FileStamp = std::array<int64_t, 7>;

/// Null if it cannot be looked at.
std::optional<FileStamp> StampOf(const std::filesystem::path& path);

/// Thread-safe.
class VerifiedFiles {
 public:
  /// True if the file is what it was when it was added.
  bool Holds(const std::filesystem::path& path) const;

  /// `stamp` was taken before the file was read.
  void Add(const std::filesystem::path& path, const FileStamp& stamp);

 private:
  mutable std::mutex mutex_;  // guards stamps_
  std::map<std::filesystem::path, FileStamp> stamps_;
};

}  // namespace leadline::dataset
