// What the kernel says about processes it killed for memory.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace leadline::agent {

/// How sure it is that a trainer was killed for memory.
enum class OomEvidence {
  kNone,
  kCounted,  // some process of our control group or machine was, meanwhile
  kNamed,    // the kernel's log names that process
};

/// The value of a line "NAME N" of text; null if there is none.
std::optional<int64_t> CountOf(std::string_view text, std::string_view name);

/// Kills for memory in our own control group (version 2, or 1) where it counts
/// them, else of the machine since the boot; 0 if nobody says.
int64_t CountOomKills();

/// True if a line of /dev/kmsg from that moment on (seconds after the boot)
/// says that the kernel killed process `pid` for memory.
bool NamesOomKill(std::string_view kernel_log, pid_t pid, double since_s);

/// What can be read of /dev/kmsg without waiting; empty if we may not.
std::string ReadKernelLog();

}  // namespace leadline::agent
