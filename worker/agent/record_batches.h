// Takes the next records of an event file, as many as one message carries.

#pragma once

#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <absl/status/statusor.h>

#include "leadline/v1/worker_service.pb.h"
#include "worker/agent/event_parser.h"

namespace leadline::agent {

/// Reads lines until the batch holds a quarter of a mebibyte, or one larger
/// record alone, or the file has no more. The batch may be empty.
class RecordReader {
 public:
  explicit RecordReader(std::unique_ptr<EventLines> lines)
      : lines_(std::move(lines)) {}

  /// At most so many records.
  absl::StatusOr<v1::RecordBatch> NextBatch(
      int most = std::numeric_limits<int>::max());

  /// Number of the last record given out.
  int64_t sequence() const;

  /// Goes on after `sequence`, backwards or forwards, or after the last record
  /// if there are not so many.
  absl::Status SeekAfter(int64_t sequence);

  /// The last record that was passed over, never given out; null if none was.
  const std::optional<v1::TrainerRecord>& passed_over() const {
    return passed_over_;
  }

  /// The longest time between two records that were passed over, by the clock
  /// of their trainer.
  std::chrono::milliseconds longest_wait() const { return longest_wait_; }

  static constexpr size_t kBatchBytes = 256 << 10;

 private:
  std::unique_ptr<EventLines> lines_;
  std::optional<v1::TrainerRecord> held_;  // read, did not fit the batch before
  std::optional<v1::TrainerRecord> passed_over_;
  std::chrono::milliseconds longest_wait_{0};
};

}  // namespace leadline::agent
