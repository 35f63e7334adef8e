#include "cli/coordinator_process.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child_process.h"
#include "common/folder_owner.h"
#include "common/no_room.h"
#include "errors/error_code.h"

namespace leadline::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLogLimit = 1 << 20;
constexpr size_t kLastWords = 2000;

// Grows by what a coordinator says when it cannot start, so it is cut at times.
int64_t PrepareLog(const fs::path& log) {
  std::error_code error;
  const auto size = fs::file_size(log, error);
  if (error) return 0;
  if (static_cast<int64_t>(size) < kLogLimit) return static_cast<int64_t>(size);
  return fs::remove(log, error) ? 0 : static_cast<int64_t>(size);
}

absl::Status CannotUse(const fs::path& log, int error) {
  const bool is_full = IsNoRoom(error);
  return WithError(
      absl::FailedPreconditionError(fmt::format(
          "cannot write {}: {}; {}", log.string(), std::strerror(error),
          is_full ? "make room there"
                  : "it must belong to the user who runs this, or choose "
                    "another state folder with --state")),
      is_full ? ErrorCode::kDiskFull : ErrorCode::kStateUnusable);
}

}  // namespace

absl::StatusOr<CoordinatorProcess> CoordinatorProcess::Start(
    const fs::path& state, const fs::path& program) {
  // Before anything is made there.
  if (const std::string whose = WhyNotAsRoot(state, geteuid());
      !whose.empty()) {
    return WithError(
        absl::FailedPreconditionError("cannot use the state folder: " + whose),
        ErrorCode::kStateUnusable);
  }
  CoordinatorProcess process;
  process.log_ = state / "coordinator.err";
  process.log_start_ = PrepareLog(process.log_);
  const Descriptor errors(open(
      process.log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!errors.is_open()) return CannotUse(process.log_, errno);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::InternalError(
        fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  process.output_ = Descriptor(ends[0]);
  const Descriptor input(ends[1]);
  const ChildProgram coordinator = {
      .arguments = {program.string(), "--private", "--state", state.string(),
                    "--listen",
                    "unix:" + (state / "coordinator.sock").string()},
      .output = input.number(),
      .errors = errors.number()};
  if (const auto error = StartChild(coordinator, process.pid_)) {
    return absl::InternalError(
        fmt::format("cannot start {}: {}; it belongs beside this program",
                    program.string(), error.message()));
  }
  return process;
}

CoordinatorProcess::Outcome CoordinatorProcess::WaitUntilReady(
    std::chrono::steady_clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return Outcome::kTimeout;
    pollfd wait{output_.number(), POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(left.count())) <= 0) continue;
    char text[512];
    const ssize_t size = read(output_.number(), text, sizeof text);
    if (size > 0 && std::memchr(text, '\n', static_cast<size_t>(size))) {
      return Outcome::kReady;
    }
    if (size == 0) {
      waitpid(pid_, nullptr, 0);
      return Outcome::kEnded;
    }
  }
}

std::string CoordinatorProcess::LastWords() const {
  std::ifstream file(log_, std::ios::binary);
  file.seekg(log_start_);
  std::ostringstream read;
  read << file.rdbuf();
  std::string text = read.str();
  if (text.size() > kLastWords) text.erase(0, text.size() - kLastWords);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace leadline::cli
