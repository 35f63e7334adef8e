// Trainers that a former agent of this state folder left behind.

#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "worker/agent/proc_stat.h"

namespace leadline::agent {

/// Processes that belong to attempts of this folder, on two kinds of evidence:
/// the group of a recorded trainer (same boot, same id, same start time), and
/// the attempt's folder in a process's own environment. Never a name.
std::vector<ProcStat> FindLeftovers(const std::filesystem::path& state,
                                    const std::string& boot_id);

/// Ends them: SIGTERM, SIGKILL after `patience`. True once none is left; false
/// if some could not be ended in `patience` more.
bool EndLeftovers(const std::filesystem::path& state,
                  const std::string& boot_id,
                  std::chrono::milliseconds patience);

}  // namespace leadline::agent
