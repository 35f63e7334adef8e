#include "logging/bounded_file.h"

#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace leadline {

BoundedFile::BoundedFile(std::filesystem::path path, BoundedFileLimits limits)
    : path_(std::move(path)), limits_(limits) {}

BoundedFile::~BoundedFile() {
  if (file_ >= 0) close(file_);
}

bool BoundedFile::Open() {
  if (file_ >= 0) return true;
  file_ = open(path_.c_str(),
               O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  struct stat about {};
  if (file_ < 0 || fstat(file_, &about) != 0) return false;
  size_ = about.st_size;
  return true;
}

bool BoundedFile::Append(std::string_view line) {
  if (!Open()) return false;
  if (size_ > 0 && size_ + std::ssize(line) > limits_.bytes) {
    Rotate();
    if (!Open()) return false;
  }
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t size = write(file_, line.data() + done, line.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    done += static_cast<size_t>(size);
  }
  if (done == line.size()) {
    size_ += std::ssize(line);
    return true;
  }
  // Half a line would spoil the next one.
  if (done > 0 && ftruncate(file_, size_) != 0) {
    size_ += static_cast<int64_t>(done);
  }
  return false;
}

std::filesystem::path BoundedFile::Older(int number) const {
  return path_.string() + "." + std::to_string(number);
}

void BoundedFile::Rotate() {
  for (int number = limits_.older; number > 1; --number) {
    std::rename(Older(number - 1).c_str(), Older(number).c_str());
  }
  const bool moved = limits_.older > 0
                         ? std::rename(path_.c_str(), Older(1).c_str()) == 0
                         : unlink(path_.c_str()) == 0;
  // What cannot be moved aside must not grow for ever; what somebody removed is
  // made anew.
  if (!moved && errno != ENOENT && ftruncate(file_, 0) == 0) {
    size_ = 0;
    return;
  }
  close(file_);
  file_ = -1;
}

}  // namespace leadline
