#include "worker/agent/record_batches.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace leadline::agent {
namespace {

constexpr double kLongestWait_s = 1e6;

/// `time_s` stands near the beginning of every event. Far quicker than parsing
/// what is only passed over.
std::optional<double> TimeOf(const std::string& line) {
  constexpr std::string_view kField = "\"time_s\":";
  const size_t at = std::string_view(line).substr(0, 200).find(kField);
  if (at == std::string_view::npos) return std::nullopt;
  const double time = std::strtod(line.c_str() + at + kField.size(), nullptr);
  return std::isfinite(time) ? std::optional(time) : std::nullopt;
}

}  // namespace

absl::StatusOr<v1::RecordBatch> RecordReader::NextBatch(int most) {
  v1::RecordBatch batch;
  size_t bytes = 0;
  while (batch.records_size() < most) {
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
  return batch;
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
  std::optional<double> before;
  while (lines_->sequence() < sequence) {
    absl::StatusOr<std::optional<EventLine>> line = lines_->Next();
    if (!line.ok()) return line.status();
    if (!*line) break;
    last = **std::move(line);
    const std::optional<double> at = TimeOf(last->text);
    if (before && at) {
      const std::chrono::duration<double> wait(
          std::clamp(*at - *before, 0.0, kLongestWait_s));
      longest_wait_ =
          std::max(longest_wait_,
                   std::chrono::duration_cast<std::chrono::milliseconds>(wait));
    }
    if (at) before = at;
  }
  if (last) passed_over_ = ParseEvent(*last);
  return absl::OkStatus();
}

}  // namespace leadline::agent
