#include "worker/agent/state_lock.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <absl/status/status.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/no_room.h"
#include "errors/error_code.h"
#include "worker/agent/attempt_folder.h"

namespace leadline::agent {
namespace {

constexpr size_t kLongestInstance = 64;

absl::Status Failure(const std::string& doing) {
  const bool is_full = IsNoRoom(errno);
  return WithError(
      absl::UnavailableError(
          doing + ": " + std::strerror(errno) +
          (is_full ? "; make room there"
                   : "; it must belong to the user who runs this, or choose "
                     "another with --state")),
      is_full ? ErrorCode::kDiskFull : ErrorCode::kStateUnusable);
}

std::string HolderOf(int file) {
  char text[32];
  const ssize_t got = pread(file, text, sizeof text - 1, 0);
  std::string holder(text, static_cast<size_t>(got > 0 ? got : 0));
  const size_t end = holder.find_first_not_of("0123456789");
  if (end != std::string::npos) holder.resize(end);
  return holder.empty() ? "unknown" : holder;
}

}  // namespace

absl::StatusOr<StateLock> StateLock::Take(const std::filesystem::path& state) {
  std::error_code error;
  std::filesystem::create_directories(state.parent_path(), error);
  if (mkdir(state.c_str(), 0700) != 0 && errno != EEXIST) {
    return Failure("cannot make the state folder " + state.string());
  }
  const std::filesystem::path path = state / "agent.lock";
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return Failure("cannot open " + path.string());
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return Failure("cannot lock " + path.string());
    return WithError(
        absl::FailedPreconditionError(
            "state folder " + state.string() +
            " belongs to the agent with process id " + HolderOf(file.get()) +
            "; stop it or give this one another --state"),
        ErrorCode::kStateInUse);
  }
  const std::string holder = std::to_string(getpid()) + "\n";
  if (ftruncate(file.get(), 0) != 0 ||
      pwrite(file.get(), holder.data(), holder.size(), 0) < 0) {
    return Failure("cannot write " + path.string());
  }
  return StateLock(std::move(file), state);
}

std::string StateLock::Succeed(const std::string& instance) const {
  const std::filesystem::path path = state_ / "agent.instance";
  std::string before = ReadEnd(path, kLongestInstance);
  // On a full disk the next agent knows none, and waits for the lease's end.
  (void)WriteFile(path, instance);
  return before;
}

}  // namespace leadline::agent
