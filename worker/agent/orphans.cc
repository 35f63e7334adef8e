#include "worker/agent/orphans.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/agent/trainer_launcher.h"

namespace leadline::agent {

bool ReceiveOrphans() { return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

bool Orphans::IsOrphan(const ProcStat& process) const {
  return receives_ && process.parent == getpid() &&
         !trainers_.contains(process.pid);
}

bool Orphans::IsStrayOf(const ProcStat& process, pid_t trainer) const {
  return trainers_.size() == 1 && trainers_.contains(trainer) &&
         IsOrphan(process) && process.IsAlive() &&
         !StartedWith(process.pid, kAttemptFolderVariable);
}

void Orphans::Reap() const {
  if (!receives_) return;
  for (const ProcStat& process : ListProcesses()) {
    if (IsOrphan(process) && !process.IsAlive()) {
      waitpid(process.pid, nullptr, WNOHANG);
    }
  }
}

}  // namespace leadline::agent
