// One process and no other: its number may pass on to another at any time.

#pragma once

#include <cstdint>
#include <optional>

#include <sys/types.h>

#include "worker/agent/file_descriptor.h"
#include "worker/agent/proc_stat.h"

namespace leadline::agent {

/// A handle on the very process that has that number and began at that time, as
/// long as it is held.
class ExactProcess {
 public:
  /// Null if there is no such process any more.
  static std::optional<ExactProcess> Find(pid_t pid, uint64_t start_time);

  bool HasEnded() const;
  void Signal(int signal) const;

 private:
  explicit ExactProcess(FileDescriptor handle) : handle_(std::move(handle)) {}

  FileDescriptor handle_;
};

/// Signals the process that was seen, unless it has ended meanwhile.
void SignalExactly(const ProcStat& process, int signal);

}  // namespace leadline::agent
