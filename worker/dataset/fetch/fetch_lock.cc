#include "worker/dataset/fetch/fetch_lock.h"

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace leadline::dataset {
namespace {

[[noreturn]] void Fail(const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(),
                          "cannot lock " + path.string());
}

int Open(const std::filesystem::path& path) {
  const int descriptor =
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (descriptor < 0) Fail(path);
  return descriptor;
}

}  // namespace

FetchLock::FetchLock(const std::filesystem::path& path,
                     const FetchOptions& options,
                     const std::function<void()>& waiting)
    : descriptor_(Open(path)) {
  try {
    while (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) Fail(path);
      waiting();
      Rest(options.limits.look, options.stop);
    }
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

// The file stays: unlinked, it could be locked twice.
FetchLock::~FetchLock() { close(descriptor_); }

void Rest(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, stop, time, [] { return false; });
  if (stop.stop_requested()) throw FetchStopped();
}

}  // namespace leadline::dataset
