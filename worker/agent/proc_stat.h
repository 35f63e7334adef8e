// What the kernel says about one process: the evidence by which processes are
// recognised, never their names.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace leadline::agent {

/// What is used of a line of /proc/PID/stat.
struct ProcStat {
  pid_t pid = 0;
  char state = '?';
  pid_t parent = 0;
  pid_t group = 0;
  uint64_t cpu_ticks = 0;   // of all its threads, in clock ticks
  uint64_t start_time = 0;  // clock ticks after the boot

  /// Zombies and dead ones hold nothing any more.
  bool IsAlive() const { return state != 'Z' && state != 'X'; }

  /// By SIGSTOP, job control or a debugger.
  bool IsStopped() const { return state == 'T' || state == 't'; }
};

/// Null unless `text` is such a line. The command between the parentheses may
/// hold any bytes, parentheses too.
std::optional<ProcStat> ParseProcStat(std::string_view text);

/// Null if there is no such process.
std::optional<ProcStat> ReadProcStat(pid_t pid);

/// All processes of this machine that can be seen.
std::vector<ProcStat> ListProcesses();

/// True if the process was started with `variable` ("NAME=value") in its
/// environment, and we may look.
bool WasStartedWith(pid_t pid, std::string_view variable);

/// What that variable had for a value when the process was started. Null if it
/// had none, or we may not look.
std::optional<std::string> StartedWith(pid_t pid, std::string_view name);

/// /proc/sys/kernel/random/boot_id; process ids mean something under one boot
/// alone. Empty if it cannot be read.
std::string ReadBootId();

/// The process ids we see are those of the machine, as in the kernel's log.
bool SeesTrueProcessIds();

}  // namespace leadline::agent
