#include "worker/dataset/fetch/part_file.h"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "worker/dataset/data_error.h"

namespace leadline::dataset {
namespace {

[[noreturn]] void Fail(const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(),
                          "cannot write " + path.string());
}

}  // namespace

PartFile::PartFile(std::filesystem::path path)
    : path_(std::move(path)),
      // A link must not lead us to another file.
      descriptor_(open(path_.c_str(),
                       O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                       0644)) {
  struct stat status {};
  if (descriptor_ < 0) Fail(path_);
  if (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor_);
    throw DataError(path_.string() + " is no regular file: remove it");
  }
  size_ = status.st_size;
}

PartFile::~PartFile() { close(descriptor_); }

void PartFile::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        pwrite(descriptor_, bytes.data(), bytes.size(), size_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) Fail(path_);
    size_ += count;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

void PartFile::Clear() {
  if (ftruncate(descriptor_, 0) != 0) Fail(path_);
  size_ = 0;
}

void PartFile::Remove() const { unlink(path_.c_str()); }

void PartFile::MoveTo(const std::filesystem::path& path) const {
  if (fsync(descriptor_) != 0 || rename(path_.c_str(), path.c_str()) != 0) {
    Fail(path);
  }
  const int folder =
      open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) Fail(path);
  const int result = fsync(folder);
  close(folder);
  if (result != 0) Fail(path);
}

void RequireSpace(const std::filesystem::path& folder, int64_t bytes,
                  std::string_view file) {
  struct statvfs disk {};
  // A file system that tells nothing is found full only when it is.
  if (statvfs(folder.c_str(), &disk) != 0 || disk.f_blocks == 0) return;
  const auto free = static_cast<int64_t>(disk.f_bavail * disk.f_frsize);
  if (free >= bytes) return;
  throw std::system_error(ENOSPC, std::generic_category(),
                          std::string(file) + " needs " +
                              std::to_string(bytes) + " bytes more in " +
                              folder.string() + ", which has " +
                              std::to_string(free) + " free");
}

}  // namespace leadline::dataset
