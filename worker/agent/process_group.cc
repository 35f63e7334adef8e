#include "worker/agent/process_group.h"

#include <cerrno>

#include <signal.h>
#include <sys/wait.h>

namespace leadline::agent {
namespace {

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

bool ProcessGroup::IsGone() {
  if (gone_) return true;
  if (!status_) status_ = LookAt(leader_);
  if (!status_ || !LivingMembers(leader_).empty()) return false;
  waitpid(leader_, nullptr, WNOHANG);
  gone_ = true;
  return true;
}

void ProcessGroup::Signal(int signal) {
  if (!gone_) kill(-leader_, signal);
}

std::vector<ProcStat> LivingMembers(pid_t group) {
  std::vector<ProcStat> members;
  for (const ProcStat& process : ListProcesses()) {
    if (process.group == group && process.IsAlive()) members.push_back(process);
  }
  return members;
}

}  // namespace leadline::agent
