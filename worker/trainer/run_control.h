// What the world outside asks of a running trainer.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/experiment.h"

namespace leadline::trainer {

/// Why a trainer ends before its work is done.
struct StopRequest {
  AttemptOutcome outcome = AttemptOutcome::kCancelled;
  std::optional<FailureKind> kind{};
  std::string message{};
};

/// Thrown where a stop is heeded.
struct Stopped {
  StopRequest request;
};

/// Thread-safe.
class RunControl {
 public:
  /// The first request counts.
  void Stop(StopRequest request);
  void DropReplica(int64_t replica);

  /// Throws Stopped if a stop was asked for. Costs one load otherwise.
  void Heed() const;
  bool IsStopping() const { return stopping_; }

  /// A writer says what it waits for, or that it waits no more (empty).
  void WaitFor(const std::string& writer, std::string message);
  /// Of all writers that wait; empty where none does.
  std::string Waits() const;

  /// What Heed would throw; null where nothing was asked.
  std::optional<StopRequest> Asked() const;

  /// Where the other ranks are; the first that are given count.
  void GivePeers(std::vector<std::string> peers);
  /// Empty until they are known.
  std::vector<std::string> Peers() const;

  /// Replicas to drop since the last call.
  std::vector<int64_t> TakeDrops();

 private:
  mutable std::mutex mutex_;
  std::optional<StopRequest> stop_;           // guarded by mutex_
  std::vector<int64_t> drops_;                // guarded by mutex_
  std::vector<std::string> peers_;            // guarded by mutex_
  std::map<std::string, std::string> waits_;  // guarded by mutex_; by writer
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> dropping_ = false;
};

}  // namespace leadline::trainer
