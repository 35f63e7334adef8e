// Writes checkpoints beside the training.

#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <vector>

#include "worker/checkpoint/series.h"
#include "worker/trainer/checkpoint_state.h"
#include "worker/trainer/events.h"
#include "worker/trainer/run_control.h"

namespace leadline::trainer {

/// Keeps a cohort's checkpoints in one folder, the newest and the best of them.
/// A copy is written by a thread of its own, one at a time. Owned by one
/// thread.
class CheckpointWriter {
 public:
  /// Waits for room on a full disk, until a stop is asked for.
  CheckpointWriter(checkpoint::Series series, checkpoint::Series::Kept keep,
                   RunControl& control);
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;
  /// Waits for what is being written.
  ~CheckpointWriter() = default;

  /// Takes the place of one of the same step. Waits for the one before, and
  /// throws std::system_error if that could not be written.
  void Write(checkpoint::Manifest manifest, Snapshot snapshot);

  /// Those that are on disk since the last call. Throws std::system_error if
  /// one could not be written.
  std::vector<CheckpointEvent> TakeWritten();

  /// Waits for the last one; TakeWritten then says what came of it.
  void Wait() const;

  const checkpoint::Series& series() const { return series_; }

 private:
  checkpoint::Series series_;
  checkpoint::Series::Kept keep_;
  RunControl& control_;
  std::vector<CheckpointEvent> written_;
  std::future<CheckpointEvent> pending_;  // last: its thread uses the others
};

}  // namespace leadline::trainer
