// An open file that closes itself.

#pragma once

#include <utility>

#include <unistd.h>

namespace leadline::agent {

/// Owns one descriptor, or none (-1).
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int value) : value_(value) {}
  ~FileDescriptor() { Reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept
      : value_(std::exchange(other.value_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      Reset();
      value_ = std::exchange(other.value_, -1);
    }
    return *this;
  }

  int get() const { return value_; }
  explicit operator bool() const { return value_ >= 0; }

  void Reset() {
    if (value_ >= 0) close(value_);
    value_ = -1;
  }

 private:
  int value_ = -1;
};

}  // namespace leadline::agent
