// The processes of one attempt: its trainer's group and whatever left that
// group, ended as a whole and nothing besides it.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "worker/agent/attempt_host.h"
#include "worker/agent/exact_process.h"
#include "worker/agent/orphans.h"
#include "worker/agent/proc_stat.h"

namespace leadline::agent {

/// A trainer that leads its process group, a child of this process or of an
/// agent before it. A child is not reaped before its group is gone, so that its
/// number, and with it the group's, cannot pass to another; of all others every
/// single process is recognised. Owned by one thread.
class ProcessGroup {
 public:
  struct Mark {
    /// "NAME=value" in the environment of whatever the trainer started; empty:
    /// what leaves the group is not found.
    std::string variable = {};
    /// Where orphans come to; must outlive the group. Null: nowhere.
    Orphans* orphans = nullptr;
  };

  /// Of a child of this process.
  explicit ProcessGroup(pid_t leader) : ProcessGroup(leader, Mark{}) {}
  ProcessGroup(pid_t leader, Mark mark);

  /// Of the process with that number and start time, if it still lives, and of
  /// what else of it lives. How it ended cannot be known.
  static ProcessGroup Adopt(pid_t leader, uint64_t start_time, Mark mark);

  ~ProcessGroup();
  ProcessGroup(ProcessGroup&& other) noexcept;
  ProcessGroup& operator=(ProcessGroup&&) = delete;

  pid_t leader() const { return leader_; }

  /// Looks once, without waiting. True when every process has ended; from then
  /// on status() is there and signals are not sent.
  bool IsGone();

  /// How the leader ended; null while it lives.
  const std::optional<ExitStatus>& status() const { return status_; }

  /// Sends the signal to all its processes unless it is gone.
  void Signal(int signal);

 private:
  void LookAtLeader();
  bool IsOurs(const ProcStat& process) const;
  /// True once two looks, some time apart, found none.
  bool IsEmpty();
  /// All that live; notes which were seen.
  std::vector<ProcStat> Members();

  pid_t leader_;
  Mark mark_;
  bool is_child_ = true;
  std::optional<ExactProcess> adopted_;
  std::map<pid_t, uint64_t> seen_;  // start times of members, while it lived
  std::optional<ExitStatus> status_;
  std::optional<std::chrono::steady_clock::time_point> none_since_;
  bool gone_ = false;
};

/// Living processes of the group; zombies are not among them.
std::vector<ProcStat> LivingMembers(pid_t group);

}  // namespace leadline::agent
