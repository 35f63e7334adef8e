// Processes that lost their parent come to the agent, so that none can leave an
// attempt unseen by forking twice and cleaning its environment.

#pragma once

#include <set>

#include <sys/types.h>

#include "worker/agent/proc_stat.h"

namespace leadline::agent {

/// Makes this process the one that orphans of its descendants come to. True if
/// the system does that.
bool ReceiveOrphans();

/// Owned by one thread.
class Orphans {
 public:
  /// `receives`: every child of this process that is no trainer is an orphan
  /// of one (see ReceiveOrphans).
  explicit Orphans(bool receives) : receives_(receives) {}

  /// A trainer that lives, or whose group does.
  void Add(pid_t trainer) { trainers_.insert(trainer); }
  void Remove(pid_t trainer) { trainers_.erase(trainer); }

  /// True if the process is an orphan without the mark of any attempt, and must
  /// be of that trainer because there is no other.
  bool IsStrayOf(const ProcStat& process, pid_t trainer) const;

  /// Takes note of the ends of orphans, which would stay as zombies.
  void Reap() const;

 private:
  bool IsOrphan(const ProcStat& process) const;

  const bool receives_;
  std::set<pid_t> trainers_;
};

}  // namespace leadline::agent
