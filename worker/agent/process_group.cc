#include "worker/agent/process_group.h"

#include <cerrno>
#include <utility>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace leadline::agent {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

// A process shows no environment while it becomes another program.
constexpr std::chrono::milliseconds kBetweenLooks{10};

std::optional<ExitStatus> LookAt(pid_t pid) {
  siginfo_t info{};
  const int result =
      waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
  // Without such a child somebody else has reaped it: it has ended, unknown
  // how.
  if (result != 0) {
    return errno == ECHILD ? std::optional(ExitStatus{}) : std::nullopt;
  }
  if (info.si_pid == 0) return std::nullopt;
  if (info.si_code == CLD_EXITED) return ExitStatus{info.si_status, 0};
  return ExitStatus{-1, info.si_status};
}

}  // namespace

ProcessGroup::ProcessGroup(pid_t leader, Mark mark)
    : leader_(leader), mark_(std::move(mark)) {
  if (mark_.orphans) mark_.orphans->Add(leader_);
}

ProcessGroup ProcessGroup::Adopt(pid_t leader, uint64_t start_time, Mark mark) {
  ProcessGroup group(leader, std::move(mark));
  group.is_child_ = false;
  group.adopted_ = ExactProcess::Find(leader, start_time);
  group.LookAtLeader();
  // Leftovers were looked for twice before.
  if (group.Members().empty()) group.none_since_ = SteadyTime::min();
  return group;
}

ProcessGroup::~ProcessGroup() {
  if (mark_.orphans) mark_.orphans->Remove(leader_);
}

ProcessGroup::ProcessGroup(ProcessGroup&& other) noexcept
    : leader_(other.leader_),
      mark_(std::exchange(other.mark_, {})),
      is_child_(other.is_child_),
      adopted_(std::move(other.adopted_)),
      seen_(std::move(other.seen_)),
      status_(other.status_),
      none_since_(other.none_since_),
      gone_(other.gone_) {}

void ProcessGroup::LookAtLeader() {
  if (status_) return;
  if (is_child_) {
    status_ = LookAt(leader_);
  } else if (!adopted_ || adopted_->HasEnded()) {
    status_ = ExitStatus{};
  }
}

bool ProcessGroup::IsOurs(const ProcStat& process) const {
  if (!process.IsAlive() || process.pid == getpid()) return false;
  if (process.group == leader_) {
    // The number of a group whose leader was reaped may pass to another.
    const auto seen = seen_.find(process.pid);
    if (is_child_ || !status_ ||
        (seen != seen_.end() && seen->second == process.start_time)) {
      return true;
    }
  }
  if (!mark_.variable.empty() && WasStartedWith(process.pid, mark_.variable)) {
    return true;
  }
  return mark_.orphans && mark_.orphans->IsStrayOf(process, leader_);
}

std::vector<ProcStat> ProcessGroup::Members() {
  std::vector<ProcStat> members;
  for (const ProcStat& process : ListProcesses()) {
    if (!IsOurs(process)) continue;
    members.push_back(process);
    seen_[process.pid] = process.start_time;
  }
  return members;
}

bool ProcessGroup::IsEmpty() {
  if (!Members().empty()) {
    none_since_.reset();
    return false;
  }
  // Without a mark there is only the group, and that is always seen.
  if (mark_.variable.empty()) return true;
  const SteadyTime now = std::chrono::steady_clock::now();
  if (!none_since_) none_since_ = now;
  return now >= *none_since_ + kBetweenLooks;
}

bool ProcessGroup::IsGone() {
  if (gone_) return true;
  LookAtLeader();
  if (!status_) return false;
  if (mark_.orphans) mark_.orphans->Reap();
  if (!IsEmpty()) return false;
  if (is_child_) waitpid(leader_, nullptr, WNOHANG);
  if (mark_.orphans) mark_.orphans->Remove(leader_);
  gone_ = true;
  return true;
}

void ProcessGroup::Signal(int signal) {
  if (gone_) return;
  // At once, so that none can fork in between.
  if (is_child_) kill(-leader_, signal);
  LookAtLeader();
  for (const ProcStat& process : Members()) {
    if (!is_child_ || process.group != leader_) SignalExactly(process, signal);
  }
}

std::vector<ProcStat> LivingMembers(pid_t group) {
  std::vector<ProcStat> members;
  for (const ProcStat& process : ListProcesses()) {
    if (process.group == group && process.IsAlive()) members.push_back(process);
  }
  return members;
}

}  // namespace leadline::agent
