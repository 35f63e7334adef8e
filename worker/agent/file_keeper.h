// What an agent keeps of sweeps: weighed when it is asked for, and deleted of
// those that were removed at the coordinator.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include <absl/base/thread_annotations.h>

#include "common/ids.h"
#include "common/kept_files.h"

namespace leadline::agent {

struct RemovedFiles {
  int64_t attempts = 0;     // folders of attempts that are gone
  int64_t checkpoints = 0;  // folders of checkpoints, one a cohort
  int64_t bytes = 0;
  int64_t failed = 0;  // folders that could not be removed

  bool operator==(const RemovedFiles&) const = default;
};

/// Removes every attempt of the sweep that is not held, and the checkpoints of
/// every cohort of which none is held.
RemovedFiles RemoveFilesOf(SweepId sweep, const KeptFiles& files);

/// Who asked how much is kept: a request of that stream's coordinator.
struct WeighingTag {
  int64_t stream = 0;
  int64_t request = 0;
};

/// The answer.
struct FilesWeighed {
  WeighingTag tag;
  KeptSize size;
};

/// Weighs and removes on a thread of its own, as both may take long.
/// Thread-safe.
class FileKeeper {
 public:
  /// Called from that thread.
  struct Sinks {
    std::function<void(SweepId, RemovedFiles)> removed;  // after each sweep
    std::function<void(FilesWeighed)> weighed;
  };

  FileKeeper(KeptFiles files, Sinks sinks);
  /// What has not begun is left: it is asked for again another time.
  ~FileKeeper();

  void Remove(SweepId sweep);

  /// Within kTimeToWeigh, as much as can be looked at by then; left where not
  /// even a beginning can be made, or too many wait.
  void Weigh(WeighingTag tag, std::vector<SweepId> sweeps);

 private:
  using Time = std::chrono::steady_clock::time_point;

  /// One walk answers all who ask for the same sweeps before it begins.
  struct Weighing {
    std::vector<SweepId> sweeps;
    std::vector<WeighingTag> tags;
    Time until;  // of the first who asked
  };

  void Run();
  std::function<void()> NextTask();
  std::optional<Weighing> NextWeighing() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Answer(const Weighing& weighing);
  bool IsEnding();

  const KeptFiles files_;
  const Sinks sinks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Weighing> weighings_ ABSL_GUARDED_BY(mutex_);
  std::set<SweepId> wanted_ ABSL_GUARDED_BY(mutex_);
  bool removes_next_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

}  // namespace leadline::agent
