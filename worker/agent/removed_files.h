// What an agent keeps of sweeps that were removed at the coordinator: found by
// ids alone, and deleted.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <absl/base/thread_annotations.h>

#include "common/ids.h"

namespace leadline::agent {

/// Where an agent keeps files of attempts and of cohorts.
struct KeptFiles {
  std::filesystem::path state;        // attempts/s1.2.c0@1 below it
  std::filesystem::path checkpoints;  // s1.2.c0 below it
};

struct RemovedFiles {
  int64_t attempts = 0;     // folders of attempts that are gone
  int64_t checkpoints = 0;  // folders of checkpoints, one a cohort
  int64_t bytes = 0;
  int64_t failed = 0;  // folders that could not be removed

  bool operator==(const RemovedFiles&) const = default;
};

/// Sweeps of which anything is there, ascending. Names that are no ids of ours,
/// those moved aside among them, count for none.
std::vector<SweepId> KeptSweeps(const KeptFiles& files);

/// Removes every attempt of the sweep that is not held, and the checkpoints of
/// every cohort of which none is held.
RemovedFiles RemoveFilesOf(SweepId sweep, const KeptFiles& files);

/// Does so on a thread of its own, as it may take long. Thread-safe.
class FileRemover {
 public:
  /// `told` is called from that thread after each sweep.
  FileRemover(KeptFiles files, std::function<void(SweepId, RemovedFiles)> told);
  /// What has not begun is left: it is asked for again another time.
  ~FileRemover();

  void Remove(SweepId sweep);

 private:
  void Run();

  const KeptFiles files_;
  const std::function<void(SweepId, RemovedFiles)> told_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<SweepId> wanted_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

}  // namespace leadline::agent
