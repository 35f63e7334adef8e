// What a trainer measured.

#include "storage/change_checks.h"
#include "storage/sqlite/change_writer.h"
#include "storage/sqlite/json_array.h"

namespace leadline::storage::sqlite {

absl::StatusOr<int64_t> ChangeWriter::WritableTrial(const AttemptKey& attempt,
                                                    const TrialId& trial) {
  const absl::StatusOr<int64_t> cohort = LiveCohort(attempt);
  if (!cohort.ok()) return cohort.status();
  const std::optional<TrialKey> key = ids_.Trial(trial);
  if (!key || key->cohort != attempt.cohort) return NotOfCohort(attempt, trial);
  return key->row;
}

/// Most points are new, and those that are not are counted.
void ChangeWriter::Write(const Point& point, int64_t trial, int64_t attempt) {
  const int64_t metric = ids_.Metric(point.metric);
  const int64_t added =
      Query(connection_, "INSERT OR IGNORE INTO points VALUES (?, ?, ?, ?, ?)",
            trial, metric, point.step, point.value, attempt)
          .Finish();
  if (added > 0) {
    ++uncommitted_.stored;
    return;
  }
  Query(connection_,
        "UPDATE points SET value = ?, attempt = ? WHERE trial = ? AND metric "
        "= ? AND step = ?",
        point.value, attempt, trial, metric, point.step)
      .Finish();
  ++uncommitted_.overwritten;
}

absl::Status ChangeWriter::On(const AddPoints& change) {
  if (const auto live = LiveCohort(change.attempt); !live.ok()) {
    return live.status();
  }
  for (const Point& point : change.points) {
    const std::optional<TrialKey> trial = ids_.Trial(point.trial);
    if (!trial || trial->cohort != change.attempt.cohort) {
      return NotOfCohort(change.attempt, point.trial);
    }
    Write(point, trial->row, change.attempt.number);
  }
  return absl::OkStatus();
}

absl::Status ChangeWriter::On(const AddRouting& change) {
  const RoutingRecord& routing = change.routing;
  if (absl::Status shape = CheckShape(routing); !shape.ok()) return shape;
  const absl::StatusOr<int64_t> trial =
      WritableTrial(change.attempt, routing.trial);
  if (!trial.ok()) return trial.status();
  Query(connection_,
        "INSERT INTO routing_step VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET "
        "attempt = excluded.attempt",
        *trial, routing.step, change.attempt.number)
      .Finish();
  Query(connection_, "DELETE FROM router_map WHERE trial = ? AND step = ?",
        *trial, routing.step)
      .Finish();
  Query(connection_,
        "DELETE FROM router_statistic WHERE trial = ? AND step = ?", *trial,
        routing.step)
      .Finish();
  int64_t router = 0;
  for (const RouterRow& row : routing.map) {
    Query(connection_, "INSERT INTO router_map VALUES (?, ?, ?, ?, ?)", *trial,
          routing.step, router, ids_.SourceList(row.sources),
          NumbersToJson(row.weights))
        .Finish();
    ++router;
  }
  for (const auto& [name, numbers] : routing.statistics) {
    Query(connection_, "INSERT INTO router_statistic VALUES (?, ?, ?, ?)",
          *trial, routing.step, ids_.Metric(name), NumbersToJson(numbers))
        .Finish();
  }
  return absl::OkStatus();
}

absl::Status ChangeWriter::On(const AddWindows& change) {
  const WindowLosses& windows = change.windows;
  const absl::StatusOr<int64_t> trial =
      WritableTrial(change.attempt, windows.trial);
  if (!trial.ok()) return trial.status();
  Query(connection_,
        "INSERT OR REPLACE INTO window_losses VALUES (?, ?, ?, ?, ?)", *trial,
        windows.split, windows.step, NumbersToJson(windows.losses),
        change.attempt.number)
      .Finish();
  return absl::OkStatus();
}

absl::Status ChangeWriter::On(const AddResult& change) {
  const ResultRecord& result = change.result;
  const absl::StatusOr<int64_t> trial =
      WritableTrial(result.attempt, result.trial);
  if (!trial.ok()) return trial.status();
  Query(connection_,
        "INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?, ?, ?)",
        *trial, result.attempt.number, result.validation_loss, result.test_loss,
        result.best_validation_loss, result.best_step, result.unit,
        result.steps, result.tokens, result.seconds, result.peak_bytes,
        result.parameters, std::string(Name(result.determinism)))
      .Finish();
  return absl::OkStatus();
}

}  // namespace leadline::storage::sqlite
