// What a node keeps of sweeps: folders of attempts and of checkpoints, found by
// the ids that are their names and by nothing else.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "common/ids.h"

namespace leadline {

/// Where an agent keeps files of attempts and of cohorts.
struct KeptFiles {
  std::filesystem::path state;        // attempts/s1.2.c0@1 below it
  std::filesystem::path checkpoints;  // s1.2.c0 below it
};

struct KeptSize {
  int64_t attempts = 0;     // folders of attempts
  int64_t checkpoints = 0;  // folders of checkpoints, one a cohort
  int64_t bytes = 0;        // of the files in them
  bool at_least = false;    // not all could be looked at, or not in time

  bool operator==(const KeptSize&) const = default;
};

/// In any order. Names that are no ids of ours, those moved aside among them,
/// count for none; a folder that cannot be read is as if it were empty.
std::vector<AttemptKey> KeptAttempts(const KeptFiles& files);
std::vector<CohortId> KeptCohorts(const KeptFiles& files);

/// Sweeps of which anything is there, ascending.
std::vector<SweepId> KeptSweeps(const KeptFiles& files);

/// Of the file, or of the files in the folder, not of what links lead to. What
/// cannot be read counts for nothing.
int64_t BytesIn(const std::filesystem::path& path);

/// How long somebody who asks waits for it.
inline constexpr std::chrono::seconds kTimeToWeigh{3};

/// All that is there of these sweeps, as far as `goes_on`, which is asked at
/// every folder and file, stays true.
KeptSize WeighFiles(const std::vector<SweepId>& sweeps, const KeptFiles& files,
                    const std::function<bool()>& goes_on);

}  // namespace leadline
