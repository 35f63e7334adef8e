// Processes that a former agent of this state folder left behind and that
// nobody goes on with.

#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "worker/agent/proc_stat.h"

namespace leadline::agent {

/// What is done about the attempts that the former agent held.
enum class HeldAttempts {
  kSpare,  // they are adopted: only what belongs to no held attempt is left
           // over
  kEnd,    // nobody goes on with anything
};

/// Processes that belong to attempts of this folder, on two kinds of evidence:
/// the group of a recorded trainer (same boot, same id, same start time), and
/// the attempt's folder in a process's own environment. Never a name.
std::vector<ProcStat> FindLeftovers(const std::filesystem::path& state,
                                    const std::string& boot_id,
                                    HeldAttempts held);

/// Ends them: SIGTERM, SIGKILL after `patience`. True once none is left; false
/// if some could not be ended in `patience` more. Held attempts that end so are
/// marked as interrupted.
bool EndLeftovers(const std::filesystem::path& state,
                  const std::string& boot_id, HeldAttempts held,
                  std::chrono::milliseconds patience);

}  // namespace leadline::agent
