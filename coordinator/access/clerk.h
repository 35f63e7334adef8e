// Writes the audit: what was done, and what was refused.

#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <absl/base/thread_annotations.h>

#include "common/log.h"
#include "storage/access_store.h"

namespace leadline::access {

/// One thread writes; all that waits goes into one transaction. Thread-safe.
class Clerk {
 public:
  using Written = std::function<void()>;

  /// `each_turn` is called by the thread about once a second. `store` and `log`
  /// must outlive it.
  Clerk(storage::AccessStore& store, Log& log, std::function<void()> each_turn);

  /// Writes what waits.
  ~Clerk();

  /// `written` is called once, on the thread: the record is on disk, or the log
  /// says why it could not be.
  void Note(storage::AuditRecord record, Written written);

  /// Equal refusals (who, what, why) within ten seconds become one row, and one
  /// line of the log, with their number: nobody fills the disk by being
  /// refused.
  void NoteRefusal(storage::AuditRecord record);

 private:
  using Clock = std::chrono::steady_clock;

  struct Refusals {
    storage::AuditRecord record;  // its count: those not written yet
    Clock::time_point written_at;
  };

  struct Batch {
    std::vector<storage::AuditRecord> records;
    std::vector<storage::AuditRecord> refusals;
    std::vector<Written> written;
  };

  void Run(const std::stop_token& stop);
  Batch Take(const std::stop_token& stop);
  void TakeRefusals(Clock::time_point now, bool all, Batch& batch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Write(const Batch& batch);

  storage::AccessStore& store_;
  Log& log_;
  const std::function<void()> each_turn_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Batch waiting_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Refusals> refusals_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  // last: it uses all above
};

}  // namespace leadline::access
