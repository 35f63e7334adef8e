#include "cli/local_coordinator.h"

#include <cerrno>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/coordinator_process.h"
#include "cli/exit_code.h"
#include "common/user_name.h"
#include "errors/error_code.h"

namespace leadline::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kJoinTime{30};
constexpr std::chrono::milliseconds kBetweenLooks{20};
// A coordinator may lose the lock to a look at it by another command; three in
// a row with the lock free have a reason of their own.
constexpr int kFailedStarts = 3;

absl::Status Unusable(const fs::path& state, const std::string& why,
                      const std::string& advice) {
  return WithError(
      absl::FailedPreconditionError(fmt::format(
          "cannot use the state folder {}: {}; {}choose another with --state",
          state.string(), why, advice)),
      ErrorCode::kStateUnusable);
}

// Whether this user may use a folder that is there: what fails without that
// would be taken for a coordinator that is not there.
absl::Status CheckIsOurs(const fs::path& state, const Descriptor& folder) {
  if (faccessat(folder.number(), ".", R_OK | W_OK | X_OK, AT_EACCESS) == 0) {
    return absl::OkStatus();
  }
  const std::string why = std::strerror(errno);
  struct stat about {};
  if (fstat(folder.number(), &about) != 0 || about.st_uid == geteuid()) {
    return Unusable(state, why, "");
  }
  return Unusable(
      state, why,
      fmt::format("it belongs to user {}: run this as that user, or ",
                  UserText(about.st_uid)));
}

absl::StatusOr<Descriptor> OpenStateFolder(const fs::path& state) {
  std::error_code error;
  fs::create_directories(state.parent_path(), error);
  if (!error && mkdir(state.c_str(), 0700) != 0 && errno != EEXIST) {
    error = std::error_code(errno, std::generic_category());
  }
  Descriptor folder;
  if (!error) {
    folder = Descriptor(open(state.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (folder.is_open()) {
      const absl::Status ours = CheckIsOurs(state, folder);
      if (!ours.ok()) return ours;
      return folder;
    }
    error = std::error_code(errno, std::generic_category());
  }
  return Unusable(state, error.message(), "");
}

// True if something listens at the folder's socket.
bool SocketAnswers(const Descriptor& folder) {
  const Descriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto end =
      fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1,
                       "/proc/self/fd/{}/coordinator.sock", folder.number());
  *end.out = '\0';
  return connect(probe.number(), reinterpret_cast<sockaddr*>(&address),
                 sizeof address) == 0;
}

// True while a coordinator comes up, lives or ends.
bool LockIsHeld(const Descriptor& folder) {
  const Descriptor file(
      openat(folder.number(), "lock", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return file.is_open() && flock(file.number(), LOCK_SH | LOCK_NB) != 0 &&
         errno == EWOULDBLOCK;
}

// Starts one and waits until it listens. OK too if it lost against another.
absl::Status StartOne(const fs::path& state, const fs::path& program,
                      Clock::time_point deadline, int* failed_starts) {
  auto process = CoordinatorProcess::Start(state, program);
  if (!process.ok()) return process.status();
  switch (process->WaitUntilReady(deadline)) {
    case CoordinatorProcess::Outcome::kReady:
    case CoordinatorProcess::Outcome::kTimeout:
      return absl::OkStatus();
    case CoordinatorProcess::Outcome::kEnded:
      break;
  }
  if (++*failed_starts < kFailedStarts) return absl::OkStatus();
  const std::string words = process->LastWords();
  return WithError(
      absl::InternalError(
          fmt::format("the local coordinator ended as it started:\n{}", words)),
      ReadLastWords(words).value_or(ErrorCode::kInternal));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> JoinLocalCoordinator(
    const fs::path& state, const fs::path& program,
    const v1::AttachRequest& request) {
  auto folder = OpenStateFolder(state);
  if (!folder.ok()) return folder.status();
  const std::string address = "unix:" + (state / "coordinator.sock").string();
  const auto deadline = Clock::now() + kJoinTime;
  int failed_starts = 0;
  while (Clock::now() < deadline) {
    if (SocketAnswers(*folder)) {
      auto connection = Connection::Open(address, request);
      if (connection.ok() || !absl::IsUnavailable(connection.status())) {
        return connection;
      }
    }
    if (LockIsHeld(*folder)) {
      failed_starts = 0;
    } else if (!SocketAnswers(*folder)) {
      absl::Status status = StartOne(state, program, deadline, &failed_starts);
      if (!status.ok()) return At(status, state.string());
      continue;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return At(absl::UnavailableError(fmt::format(
                "the local coordinator of {} neither answers nor ends; its log "
                "is {}",
                state.string(), (state / "coordinator.log").string())),
            state.string());
}

bool LeaveAndWait(Connection& connection, std::chrono::milliseconds limit) {
  const auto pid = static_cast<pid_t>(connection.coordinator().pid());
  const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0U)));
  connection.Detach();
  if (!process.is_open()) return true;
  pollfd wait{process.number(), POLLIN, 0};
  return poll(&wait, 1, static_cast<int>(limit.count())) > 0;
}

fs::path ProgramBeside(const std::string& name) {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path(name) : own.parent_path() / name;
}

}  // namespace leadline::cli
