#include "worker/agent/record_batches.h"

#include <utility>

namespace leadline::agent {

absl::StatusOr<v1::RecordBatch> RecordReader::NextBatch() {
  v1::RecordBatch batch;
  size_t bytes = 0;
  while (true) {
    if (!held_) {
      absl::StatusOr<std::optional<EventLine>> line = lines_->Next();
      // What was read before the fault is given out first; it will be met
      // again.
      if (!line.ok() && batch.records_size() == 0) return line.status();
      if (!line.ok() || !*line) return batch;
      held_ = ParseEvent(**line);
    }
    const size_t size = held_->ByteSizeLong() + 8;
    if (batch.records_size() > 0 && bytes + size > kBatchBytes) return batch;
    bytes += size;
    *batch.add_records() = *std::exchange(held_, std::nullopt);
  }
}

int64_t RecordReader::sequence() const {
  return lines_->sequence() - (held_ ? 1 : 0);
}

absl::Status RecordReader::SeekAfter(int64_t sequence) {
  if (sequence < this->sequence()) {
    held_.reset();
    return lines_->SeekAfter(sequence);
  }
  if (sequence == this->sequence()) return absl::OkStatus();
  passed_over_ = std::exchange(held_, std::nullopt);
  std::optional<EventLine> last;
  while (lines_->sequence() < sequence) {
    absl::StatusOr<std::optional<EventLine>> line = lines_->Next();
    if (!line.ok()) return line.status();
    if (!*line) break;
    last = **std::move(line);
  }
  if (last) passed_over_ = ParseEvent(*last);
  return absl::OkStatus();
}

}  // namespace leadline::agent
