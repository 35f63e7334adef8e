// Preloaded into a program: kills it in the middle of what it writes to disk.
//
// Every byte that it writes to a regular file counts one, and so does every
// sync, rename and new folder. When LEADLINE_KILL_AT have been counted the
// process gets SIGKILL, before the call that would be the next; of a longer
// write the first bytes have arrived. At an ordinary end the count is the last
// line of standard error.
//
// Each call is a line of the file LEADLINE_CALLS, where that is set: "write
// PATH", "sync PATH", "rename TO".

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

long long Limit() {
  const char* text = std::getenv("LEADLINE_KILL_AT");
  return text == nullptr ? -1 : std::atoll(text);
}

class Count {
 public:
  ~Count() { std::fprintf(stderr, "%lld\n", done_); }

  /// How many of these may still be done.
  size_t Allowed(size_t wanted) const {
    if (limit_ < 0) return wanted;
    return std::min(wanted, static_cast<size_t>(limit_ - done_));
  }
  void Did(size_t count) { done_ += static_cast<long long>(count); }
  void OneMore() {
    if (Allowed(1) == 0) raise(SIGKILL);
    Did(1);
  }

 private:
  long long limit_ = Limit();
  long long done_ = 0;
};

Count& TheCount() {
  static Count count;
  return count;
}

template <typename Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void Note(const std::string& call, const std::string& path) {
  const char* file = std::getenv("LEADLINE_CALLS");
  if (file == nullptr) return;
  const int calls = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
  const std::string line = call + " " + path + "\n";
  // Not through our own.
  if (syscall(SYS_write, calls, line.data(), line.size()) < 0) std::abort();
  close(calls);
}

void Note(const std::string& call, int descriptor) {
  char path[4096] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  if (readlink(link.c_str(), path, sizeof path - 1) > 0) Note(call, path);
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t size) {
  static auto* const real = Real<ssize_t(int, const void*, size_t)>("write");
  struct stat about {};
  if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
    return real(descriptor, bytes, size);
  }
  Note("write", descriptor);
  const size_t allowed = TheCount().Allowed(size);
  if (allowed > 0) real(descriptor, bytes, allowed);
  TheCount().Did(allowed);
  if (allowed < size) raise(SIGKILL);
  return static_cast<ssize_t>(size);
}

int fsync(int descriptor) {
  static auto* const real = Real<int(int)>("fsync");
  TheCount().OneMore();
  Note("sync", descriptor);
  return real(descriptor);
}

int rename(const char* from, const char* to) {
  static auto* const real = Real<int(const char*, const char*)>("rename");
  TheCount().OneMore();
  Note("rename", to);
  return real(from, to);
}

char* mkdtemp(char* pattern) {
  static auto* const real = Real<char*(char*)>("mkdtemp");
  TheCount().OneMore();
  return real(pattern);
}

int unlinkat(int folder, const char* name, int flags) {
  static auto* const real = Real<int(int, const char*, int)>("unlinkat");
  TheCount().OneMore();
  return real(folder, name, flags);
}
}
