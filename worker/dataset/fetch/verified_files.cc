#include "worker/dataset/fetch/verified_files.h"

#include <sys/stat.h>

namespace leadline::dataset {

std::optional<FileStamp> StampOf(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileStamp{static_cast<int64_t>(status.st_dev),
                   static_cast<int64_t>(status.st_ino),
                   status.st_size,
                   status.st_mtim.tv_sec,
                   status.st_mtim.tv_nsec,
                   status.st_ctim.tv_sec,
                   status.st_ctim.tv_nsec};
}

bool VerifiedFiles::Holds(const std::filesystem::path& path) const {
  const auto now = StampOf(path);
  const std::scoped_lock lock(mutex_);
  const auto found = stamps_.find(path);
  return now && found != stamps_.end() && found->second == *now;
}

void VerifiedFiles::Add(const std::filesystem::path& path,
                        const FileStamp& stamp) {
  const std::scoped_lock lock(mutex_);
  stamps_[path] = stamp;
}

}  // namespace leadline::dataset
