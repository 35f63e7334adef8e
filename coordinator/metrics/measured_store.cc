#include "coordinator/metrics/measured_store.h"

#include <variant>

namespace leadline::metrics {
namespace {

/// That there never was such an attempt is an answer, not a failure.
bool IsAnswer(const absl::Status& status) { return absl::IsNotFound(status); }

}  // namespace

absl::Status MeasuredStore::Commit(std::span<const storage::Change> changes) {
  if (changes.empty()) return inner_.Commit(changes);
  const control::SteadyTime begin = now_();
  absl::Status committed = inner_.Commit(changes);
  counters_.ObserveCommit(control::Seconds(now_() - begin).count());
  if (committed.ok()) {
    Count(changes);
  } else if (absl::IsUnavailable(committed)) {
    counters_.CountFailedCommit(CommitFailure::kRefused);
  } else if (!IsAnswer(committed)) {
    counters_.CountFailedCommit(CommitFailure::kFailed);
  }
  return committed;
}

void MeasuredStore::Count(std::span<const storage::Change> changes) {
  for (const storage::Change& change : changes) {
    if (const auto* end = std::get_if<storage::EndAttempt>(&change)) {
      counters_.CountAttempt(end->outcome, end->kind);
    }
  }
  const storage::PointCounts points = inner_.CountPoints();
  counters_.CountPoints(PointFate::kStored, points.stored - points_.stored);
  counters_.CountPoints(PointFate::kOverwritten,
                        points.overwritten - points_.overwritten);
  points_ = points;
}

}  // namespace leadline::metrics
