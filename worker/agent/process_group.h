// The processes of one attempt: a group of their own, ended as a whole and
// nothing besides it.

#pragma once

#include <optional>
#include <vector>

#include <sys/types.h>

#include "worker/agent/attempt_host.h"
#include "worker/agent/proc_stat.h"

namespace leadline::agent {

/// A child of this process that leads its process group. The child is not
/// reaped before its group is gone, so that its number, and with it the
/// group's, cannot pass to another. Owned by one thread.
class ProcessGroup {
 public:
  explicit ProcessGroup(pid_t leader) : leader_(leader) {}

  pid_t leader() const { return leader_; }

  /// Looks once, without waiting. True when every process of the group has
  /// ended; from then on status() is there and signals are not sent.
  bool IsGone();

  /// How the leader ended; null while it lives.
  const std::optional<ExitStatus>& status() const { return status_; }

  /// Sends the signal to the whole group unless it is gone.
  void Signal(int signal);

 private:
  pid_t leader_;
  std::optional<ExitStatus> status_;
  bool gone_ = false;
};

/// Living processes of the group; zombies are not among them.
std::vector<ProcStat> LivingMembers(pid_t group);

}  // namespace leadline::agent
