#include "coordinator/local_agent.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child_process.h"

namespace leadline {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int kLookMilliseconds = 50;
constexpr int kEndMilliseconds = 3800;  // of the 5 s a stop may take in all
constexpr int kLeftoversMilliseconds = 1500;
constexpr milliseconds kFirstPause{200};
constexpr milliseconds kLongestPause{10'000};
constexpr uintmax_t kMostOutputBytes = uintmax_t{1} << 20;
constexpr milliseconds kLongLife{30'000};  // after it a death is a new story

void Bound(const std::filesystem::path& output) {
  std::error_code error;
  if (std::filesystem::file_size(output, error) > kMostOutputBytes && !error) {
    std::filesystem::resize_file(output, 0, error);
  }
}

}  // namespace

LocalAgent::LocalAgent(LocalAgentOptions options, Log& log)
    : options_(std::move(options)),
      log_(log),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

LocalAgent::~LocalAgent() { Stop(); }

void LocalAgent::Want(bool wanted, int64_t slots) {
  const std::lock_guard lock(mutex_);
  wanted_ = wanted;
  slots_ = slots;
  changed_.notify_all();
}

void LocalAgent::Stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void LocalAgent::Run(const std::stop_token& stop) {
  KeepAlive(stop);
  EndLeftovers();
}

void LocalAgent::KeepAlive(const std::stop_token& stop) {
  milliseconds pause = kFirstPause;
  while (!stop.stop_requested()) {
    int64_t slots = 0;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return wanted_;
      });
      if (stop.stop_requested()) return;
      slots = slots_;
    }
    const Clock::time_point started = Clock::now();
    const auto pid = Spawn(slots);
    bool ended = !pid;
    while (!ended && !stop.stop_requested()) {
      ended = WaitForEnd(*pid, kLookMilliseconds);
      const std::lock_guard lock(mutex_);
      if (!wanted_) break;
    }
    if (!ended) {
      End(*pid);
      EndLeftovers();
      continue;
    }
    if (Clock::now() - started > kLongLife) pause = kFirstPause;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, pause, [] { return false; });
    pause = std::min(pause * 2, kLongestPause);
  }
}

std::optional<pid_t> LocalAgent::Spawn(int64_t slots) {
  std::vector<std::string> flags = {"--private"};
  if (slots > 0) {
    flags.insert(flags.end(), {"--slots", std::to_string(slots)});
  }
  return SpawnWith(flags);
}

void LocalAgent::EndLeftovers() {
  if (!std::exchange(died_, false)) return;
  const auto pid = SpawnWith({"--end-leftovers"});
  if (pid && !WaitForEnd(*pid, kLeftoversMilliseconds)) End(*pid);
}

std::optional<pid_t> LocalAgent::SpawnWith(
    const std::vector<std::string>& flags) {
  // What it prints besides its log: the last words of one that died.
  const OutputFile output{options_.state / "agent.err"};
  Bound(output.path);
  ChildProgram agent = {
      .arguments = {options_.program.string(), "--state",
                    options_.state.string(), "--coordinator",
                    options_.coordinator, "--log-file",
                    (options_.state / "agent.log").string(), "--log-format",
                    std::string(Name(options_.log.format)), "--log-level",
                    std::string(Name(options_.log.level))},
      .output = output,
      .errors = output,
      .leads = Leads::kGroup};
  agent.arguments.insert(agent.arguments.end(), flags.begin(), flags.end());
  pid_t pid = 0;
  if (const std::error_code error = StartChild(agent, pid)) {
    log_.Write(
        LogLevel::kError, "agent_not_started",
        {{"program", options_.program.string()}, {"message", error.message()}});
    return std::nullopt;
  }
  log_.Write(LogLevel::kInfo, "agent_started", {{"pid", std::to_string(pid)}});
  return pid;
}

bool LocalAgent::WaitForEnd(pid_t pid, int milliseconds) {
  const int process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0U));
  if (process >= 0) {
    pollfd wait{process, POLLIN, 0};
    poll(&wait, 1, milliseconds);
    close(process);
  }
  int status = 0;
  if (waitpid(pid, &status, WNOHANG) == 0) return false;
  died_ = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  log_.Write(
      LogLevel::kInfo, "agent_ended",
      {{"pid", std::to_string(pid)},
       {"exit_code",
        std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1)},
       {"signal", std::to_string(WIFSIGNALED(status) ? WTERMSIG(status) : 0)}});
  return true;
}

void LocalAgent::End(pid_t pid) {
  kill(pid, SIGTERM);
  if (WaitForEnd(pid, kEndMilliseconds)) return;
  log_.Write(LogLevel::kWarning, "agent_killed",
             {{"pid", std::to_string(pid)}});
  kill(-pid, SIGKILL);
  WaitForEnd(pid, kEndMilliseconds);
}

}  // namespace leadline
