// Loaded before a program: a disk that is full for chosen files. While the file
// that FULL_DISK names exists, writing to a path that holds one of its lines,
// and making such a path, fails for lack of room.

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

template <typename Function>
Function* Next(const char* name) {
  auto* next = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  if (next == nullptr) abort();
  return next;
}

/// What FULL_DISK's file holds; false without one.
bool ReadControl(char* lines, size_t most) {
  const char* control = getenv("FULL_DISK");
  if (control == nullptr) return false;
  static auto* const real_open = Next<decltype(open)>("open");
  const int file = real_open(control, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t size = read(file, lines, most - 1);
  close(file);
  if (size <= 0) return false;
  lines[size] = '\0';
  return true;
}

bool IsFull(const char* path) {
  const int saved = errno;
  char lines[1024];
  const bool has_control = ReadControl(lines, sizeof lines);
  errno = saved;
  if (!has_control) return false;
  char* rest = lines;
  while (const char* line = strsep(&rest, "\n")) {
    if (*line != '\0' && strstr(path, line) != nullptr) return true;
  }
  return false;
}

bool IsFull(int descriptor) {
  char link[64];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const int saved = errno;
  const ssize_t size = readlink(link, path, sizeof path - 1);
  errno = saved;
  if (size <= 0) return false;
  path[size] = '\0';
  return IsFull(path);
}

int NoRoom() {
  errno = ENOSPC;
  return -1;
}

bool RefusesToMake(const char* path, int flags) {
  struct stat about {};
  return (flags & O_CREAT) != 0 && IsFull(path) && stat(path, &about) != 0;
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* data, size_t size) {
  static auto* const next = Next<decltype(write)>("write");
  return IsFull(file) ? NoRoom() : next(file, data, size);
}

ssize_t writev(int file, const struct iovec* parts, int count) {
  static auto* const next = Next<decltype(writev)>("writev");
  return IsFull(file) ? NoRoom() : next(file, parts, count);
}

ssize_t pwrite(int file, const void* data, size_t size, off_t place) {
  static auto* const next = Next<decltype(pwrite)>("pwrite");
  return IsFull(file) ? NoRoom() : next(file, data, size, place);
}

ssize_t pwrite64(int file, const void* data, size_t size, off64_t place) {
  static auto* const next = Next<decltype(pwrite64)>("pwrite64");
  return IsFull(file) ? NoRoom() : next(file, data, size, place);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const next = Next<decltype(mkdir)>("mkdir");
  return IsFull(path) ? NoRoom() : next(path, mode);
}

int open(const char* path, int flags, ...) {
  static auto* const next = Next<decltype(open)>("open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return RefusesToMake(path, flags) ? NoRoom() : next(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  static auto* const next = Next<decltype(open64)>("open64");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return RefusesToMake(path, flags) ? NoRoom() : next(path, flags, mode);
}

}  // extern "C"
