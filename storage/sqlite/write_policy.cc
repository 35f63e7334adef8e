// What the policy of failures decides by: rows of failures, the standing of
// cohorts, what is held against nodes.

#include "storage/change_checks.h"
#include "storage/sqlite/change_writer.h"
#include "storage/sqlite/json_array.h"

namespace leadline::storage::sqlite {

void ChangeWriter::NoteInRow(const MoveTrial& change) {
  const int64_t sweep = change.trial.cell.sweep.value;
  switch (EffectOnRow(change)) {
    case RowEffect::kNone:
      return;
    case RowEffect::kLonger:
      Query(connection_,
            "UPDATE sweep SET failures_in_row = failures_in_row + 1 WHERE "
            "id = ?",
            sweep)
          .Finish();
      return;
    case RowEffect::kEnds:
      Query(connection_,
            "UPDATE sweep SET failures_in_row = 0 WHERE id = ? AND "
            "failures_in_row <> 0",
            sweep)
          .Finish();
      return;
    case RowEffect::kEndsWithStop:
      Query(connection_,
            "UPDATE sweep SET failures_in_row = 0, stopped_because = '' WHERE "
            "id = ?",
            sweep)
          .Finish();
      return;
  }
}

absl::Status ChangeWriter::On(const StopSweep& change) {
  if (absl::Status stop = CheckStop(change); !stop.ok()) return stop;
  const int64_t changed =
      Query(connection_, "UPDATE sweep SET stopped_because = ? WHERE id = ?",
            change.because, change.sweep.value)
          .Finish();
  if (changed > 0) return absl::OkStatus();
  return absl::NotFoundError("no sweep " + ToText(change.sweep));
}

absl::Status ChangeWriter::On(const SetStanding& change) {
  const CohortRecord& cohort = change.cohort;
  const std::optional<int64_t> row = ids_.Cohort(cohort.id);
  if (!row) return absl::NotFoundError("no cohort " + ToText(cohort.id));
  std::optional<std::string> waits_after;
  if (cohort.waits_after) waits_after = Name(*cohort.waits_after);
  Query(connection_,
        "UPDATE cohort SET failures = ?, failures_in_row = ?, "
        "furthest_step = ?, spared = ?, free_restarts = ?, memory_tried = ?, "
        "waits_after = ?, failed_nodes = ? WHERE id = ?",
        cohort.failures, cohort.failures_in_row, cohort.furthest_step,
        cohort.spared, cohort.free_restarts, cohort.memory_tried, waits_after,
        WordsToJson(cohort.failed_nodes), *row)
      .Finish();
  return absl::OkStatus();
}

absl::Status ChangeWriter::On(const SetNode& change) {
  const NodeRecord& node = change.node;
  if (absl::Status fit = CheckNode(node); !fit.ok()) return fit;
  if (node.IsClean()) {
    Query(connection_, "DELETE FROM node WHERE name = ?", node.name).Finish();
    return absl::OkStatus();
  }
  std::vector<std::string> failures;
  for (const AttemptKey& key : node.failures) failures.push_back(ToText(key));
  std::optional<std::string> canary;
  if (node.canary) canary = ToText(*node.canary);
  Query(connection_,
        "INSERT OR REPLACE INTO node VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        node.name, WordsToJson(failures), int64_t{node.quarantined},
        node.reason, node.rounds, canary, node.failed_canaries,
        int64_t{node.undecided})
      .Finish();
  return absl::OkStatus();
}

}  // namespace leadline::storage::sqlite
