#include "worker/checkpoint/open_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/checkpoint/bad_checkpoint.h"

namespace leadline::checkpoint {
namespace {

[[noreturn]] void Fail(const char* doing, const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(),
                          std::string(doing) + " " + path.string());
}

[[noreturn]] void RefuseToOpen(const std::filesystem::path& path) {
  // O_NOFOLLOW's error speaks of too many levels of links.
  throw BadCheckpoint(
      "cannot read " + path.string() + ": " +
      (errno == ELOOP ? "it is a symbolic link" : std::strerror(errno)));
}

}  // namespace

OpenFile::OpenFile(OpenFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)) {}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

OpenFile OpenFile::Folder(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) RefuseToOpen(path);
  return {descriptor, path};
}

OpenFile OpenFile::In(const OpenFile& folder, const std::string& name) {
  const std::filesystem::path path = folder.path() / name;
  // A pipe must not hold us until someone writes to it.
  const int descriptor = openat(folder.descriptor(), name.c_str(),
                                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) RefuseToOpen(path);
  OpenFile file(descriptor, path);
  struct stat about {};
  if (fstat(descriptor, &about) != 0) RefuseToOpen(path);
  if (!S_ISREG(about.st_mode)) {
    throw BadCheckpoint(path.string() + " is no regular file");
  }
  return file;
}

OpenFile OpenFile::New(const std::filesystem::path& path) {
  const int descriptor =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0) Fail("cannot make", path);
  return {descriptor, path};
}

int64_t OpenFile::Bytes() const {
  struct stat about {};
  if (fstat(descriptor_, &about) != 0) Fail("cannot read", path_);
  return about.st_size;
}

void OpenFile::Read(char* to, int64_t size) const {
  constexpr int64_t kMostAtOnce = int64_t{1} << 30U;
  while (size > 0) {
    const ssize_t count =
        read(descriptor_, to, static_cast<size_t>(std::min(size, kMostAtOnce)));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) Fail("cannot read", path_);
    if (count == 0) {
      throw BadCheckpoint(path_.string() + " ends too early");
    }
    to += count;
    size -= count;
  }
}

void OpenFile::Write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) Fail("cannot write", path_);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

void OpenFile::Sync() const {
  if (fsync(descriptor_) != 0) Fail("cannot sync", path_);
}

}  // namespace leadline::checkpoint
