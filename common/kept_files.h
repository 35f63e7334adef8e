// What a node keeps of sweeps: folders of attempts and of checkpoints, found by
// the ids that are their names and by nothing else.

#pragma once

#include <cstdint>
#include <filesystem>
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

  bool operator==(const KeptSize&) const = default;
};

/// In any order. Names that are no ids of ours, those moved aside among them,
/// count for none; what cannot be read is as if it were not there.
std::vector<AttemptKey> KeptAttempts(const KeptFiles& files);
std::vector<CohortId> KeptCohorts(const KeptFiles& files);

/// Sweeps of which anything is there, ascending.
std::vector<SweepId> KeptSweeps(const KeptFiles& files);

/// Of the files in it, not of what links lead to.
int64_t BytesIn(const std::filesystem::path& folder);

/// All that is there of these sweeps.
KeptSize WeighFiles(const std::vector<SweepId>& sweeps, const KeptFiles& files);

}  // namespace leadline
