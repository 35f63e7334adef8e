// A small record for tests of stores: sweeps to add, and everything a store
// holds as one text to compare.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/open.h"

namespace leadline::test {

/// A folder of its own, gone at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A sweep "depth study" of cells with one cohort each, all trials queued.
/// Seeds are 0, 10, 20, ...
storage::AddSweep MakeSweep(int64_t number, int64_t cells, int64_t seeds);

SweepId Sweep(int64_t number);
CellId Cell(int64_t sweep, int64_t cell);
TrialId Trial(int64_t sweep, int64_t cell, int64_t seed_index);
/// The only cohort of a cell of MakeSweep.
CohortId Cohort(int64_t sweep, int64_t cell);
AttemptKey Attempt(int64_t sweep, int64_t cell, int64_t number);

storage::StartAttempt Start(const AttemptKey& key);
storage::ResultRecord MakeResult(const TrialId& trial,
                                 const AttemptKey& attempt, double loss);

absl::Status CommitOne(storage::Store& store, const storage::Change& change);

/// Queued trials of the cohort become running, under their next attempt.
absl::Status Run(storage::Store& store, const AttemptKey& attempt,
                 const std::vector<TrialId>& trials);

/// A trial that runs gets its result and has succeeded.
absl::Status Succeed(storage::Store& store, const TrialId& trial,
                     const AttemptKey& attempt, double loss);

/// Everything both interfaces can tell, doubles by their bits: equal texts mean
/// equal contents. `metrics` are the curves to look for.
std::string Dump(const storage::StorePair& pair,
                 const std::vector<std::string>& metrics);

}  // namespace leadline::test
