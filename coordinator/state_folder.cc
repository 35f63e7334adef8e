#include "coordinator/state_folder.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include <absl/cleanup/cleanup.h>
#include <absl/status/status.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/folder_owner.h"
#include "common/no_room.h"
#include "common/user_name.h"
#include "common/writable_folder.h"
#include "errors/error_code.h"

namespace leadline {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kBetweenLooks{20};
constexpr std::chrono::seconds kUntilItHasEnded{3};

absl::Status Failed(const std::string& what, const fs::path& path) {
  const bool is_full = IsNoRoom(errno);
  return WithError(
      absl::FailedPreconditionError(
          what + " " + path.string() + ": " + std::strerror(errno) +
          (is_full ? "; make room there"
                   : "; it must belong to the user who runs this, or choose "
                     "another with --state")),
      is_full ? ErrorCode::kDiskFull : ErrorCode::kStateUnusable);
}

/// Written by the holder; empty in the moment before.
std::string Holder(int lock) {
  char text[32];
  const ssize_t size = pread(lock, text, sizeof text, 0);
  std::string holder(text, size > 0 ? static_cast<size_t>(size) : 0);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder.empty() ? "another process" : "process " + holder;
}

bool WriteAll(int file, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t size = write(file, text.data() + done, text.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return false;
    done += static_cast<size_t>(size);
  }
  return true;
}

/// Whether the coordinator that wrote its description there was one that a
/// command started.
bool IsOfPrivate(const fs::path& state) {
  std::ifstream file(state / "coordinator.json");
  std::string line;
  std::getline(file, line);
  return line.find("\"private\":true") != std::string::npos;
}

absl::Status StateUnusable(const std::string& why) {
  return WithError(absl::FailedPreconditionError(why),
                   ErrorCode::kStateUnusable);
}

/// A folder that others may read is made private only if it is ours or empty:
/// somebody's home or /tmp, named by mistake, must keep its mode.
absl::Status CheckMayBePrivate(const fs::path& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0 || (about.st_mode & 0077) == 0) {
    return absl::OkStatus();
  }
  if (about.st_uid != geteuid()) {
    return StateUnusable("cannot use the state folder " + path.string() +
                         ": it belongs to the user " + UserText(about.st_uid) +
                         ", so it cannot be made private; choose another with "
                         "--state");
  }
  bool is_foreign = false;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name == "lock" || name.starts_with("leadline.db")) {
      return absl::OkStatus();
    }
    // Written before us, by the command that starts us or by an agent.
    is_foreign |= name != "coordinator.err" && name != "agent.lock";
  }
  if (!is_foreign && !error) return absl::OkStatus();
  return StateUnusable(
      "cannot use " + path.string() +
      " as the state folder: others may read it, and it holds files that "
      "are not ours; choose an empty or a new folder with --state");
}

/// What is wrong with the place and with whoever asks.
absl::Status CheckPlace(const fs::path& path, const std::string& network,
                        bool allow_network, uid_t user) {
  if (!network.empty() && !allow_network) return StateUnusable(network);
  const std::string whose = WhyNotAsRoot(path, user);
  return whose.empty() ? absl::OkStatus()
                       : StateUnusable("cannot use the state folder: " + whose);
}

}  // namespace

absl::StatusOr<StateFolder> StateFolder::Open(const fs::path& given,
                                              bool allow_network,
                                              const FileSystemType& type,
                                              uid_t user) {
  std::error_code error;
  const fs::path path = fs::absolute(given, error).lexically_normal();
  const std::string why = WhyNotForState(path, type);
  const absl::Status place = CheckPlace(path, why, allow_network, user);
  if (!place.ok()) return place;
  fs::create_directories(path.parent_path(), error);
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return Failed("cannot make the state folder", path);
  }
  const absl::Status may = CheckMayBePrivate(path);
  if (!may.ok()) return may;
  const fs::path file = path / "lock";
  const int lock =
      open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (lock < 0) return Failed("cannot open", file);
  StateFolder folder(path, lock, !why.empty());
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return Failed("cannot lock", file);
    return WithError(
        absl::FailedPreconditionError(
            "the state folder " + path.string() + " is in use by " +
            Holder(lock) +
            "; stop that coordinator, or choose another folder with --state"),
        ErrorCode::kStateInUse);
  }
  if (chmod(path.c_str(), 0700) != 0) {
    return Failed("cannot make private", path);
  }
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(lock, 0) != 0 || pwrite(lock, pid.data(), pid.size(), 0) < 0) {
    return Failed("cannot write", file);
  }
  return folder;
}

absl::Status StateFolder::Check(const fs::path& given, bool allow_network,
                                const FileSystemType& type, uid_t user) {
  std::error_code error;
  const fs::path path = fs::absolute(given, error).lexically_normal();
  absl::Status place =
      CheckPlace(path, WhyNotForState(path, type), allow_network, user);
  if (!place.ok()) return place;
  const std::string why = WhyNotInto(path);
  if (why.empty()) return CheckMayBePrivate(path);
  return StateUnusable("cannot use the state folder " + path.string() + " (" +
                       why +
                       "); it must belong to the user who runs this, or choose "
                       "another with --state");
}

absl::StatusOr<StateFolder> StateFolder::OpenSoon(const fs::path& path,
                                                  bool allow_network) {
  const auto deadline = std::chrono::steady_clock::now() + kUntilItHasEnded;
  while (true) {
    auto folder = Open(path, allow_network);
    if (folder.ok() || ErrorOf(folder.status()) != ErrorCode::kStateInUse ||
        !IsOfPrivate(path) || std::chrono::steady_clock::now() >= deadline) {
      return folder;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

StateFolder::StateFolder(StateFolder&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      is_on_network_(other.is_on_network_) {}

StateFolder::~StateFolder() {
  if (lock_ >= 0) close(lock_);
}

absl::Status StateFolder::WriteFile(const std::string& name,
                                    const std::string& text) {
  const fs::path target = path_ / name;
  const fs::path fresh = path_ / (name + ".new");
  const int file =
      open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
           0600);
  if (file < 0) return Failed("cannot write", fresh);
  const absl::Cleanup close_file = [file] { close(file); };
  if (!WriteAll(file, text)) {
    absl::Status failed = Failed("cannot write", fresh);
    unlink(fresh.c_str());
    return failed;
  }
  if (fsync(file) != 0 || rename(fresh.c_str(), target.c_str()) != 0) {
    return Failed("cannot write", target);
  }
  return absl::OkStatus();
}

}  // namespace leadline
