// The rows of a new sweep.

#include <map>
#include <optional>

#include "storage/change_checks.h"
#include "storage/sqlite/change_writer.h"
#include "storage/sqlite/json_array.h"

namespace leadline::storage::sqlite {

void ChangeWriter::Insert(const SweepRecord& sweep) {
  std::optional<int64_t> archived_at;
  if (sweep.archived_at) {
    archived_at = sweep.archived_at->time_since_epoch().count();
  }
  Query(connection_,
        "INSERT INTO sweep VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?, ?, ?, ?, ?, NULL, 0)",
        sweep.id.value, ToText(sweep.id), sweep.name, sweep.description,
        sweep.user, sweep.source, sweep.canonical_hash,
        std::string(Name(sweep.state)),
        int64_t{sweep.submitted_at.time_since_epoch().count()}, sweep.priority,
        sweep.parallel_limit, sweep.failure_limit, sweep.failure_row_limit,
        std::string(Name(sweep.on_failures)), sweep.failures_in_row,
        sweep.stopped_because, archived_at, sweep.note, WordsToJson(sweep.tags))
      .Finish();
}

int64_t ChangeWriter::Insert(const CellRecord& cell) {
  const DatasetRecord& dataset = cell.dataset;
  Query(connection_,
        "INSERT INTO cell VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?, ?, ?, ?, ?, ?, ?, ?)",
        ToText(cell.id), cell.id.sweep.value, cell.id.number, cell.hash,
        cell.settings_json, cell.axes_json, cell.depth, cell.dataset_label,
        cell.method_label, dataset.name, dataset.path, dataset.content_hash,
        dataset.tokenizer, dataset.split[0], dataset.split[1], dataset.split[2],
        dataset.vocabulary, cell.unit, cell.validation_floor, cell.test_floor,
        cell.steps)
      .Finish();
  return connection_.database().getLastInsertRowid();
}

int64_t ChangeWriter::Insert(const CohortRecord& cohort, int64_t cell) {
  std::optional<std::string> waits_after;
  if (cohort.waits_after) waits_after = Name(*cohort.waits_after);
  Query(connection_,
        "INSERT INTO cohort VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ToText(cohort.id), cell, cohort.id.number, cohort.attempts,
        cohort.failures, cohort.failures_in_row, cohort.furthest_step,
        cohort.spared, cohort.free_restarts, cohort.memory_tried, waits_after,
        WordsToJson(cohort.failed_nodes))
      .Finish();
  return connection_.database().getLastInsertRowid();
}

/// The sweep's own row is there.
void ChangeWriter::InsertParts(const AddSweep& sweep) {
  std::map<CellId, int64_t> cells;
  for (const CellRecord& cell : sweep.cells) cells[cell.id] = Insert(cell);
  std::map<CohortId, int64_t> cohorts;
  for (const CohortRecord& cohort : sweep.cohorts) {
    cohorts[cohort.id] = Insert(cohort, cells.at(cohort.id.cell));
  }
  for (const TrialRecord& trial : sweep.trials) {
    Query(connection_,
          "INSERT INTO trial VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)",
          ToText(trial.id), sweep.sweep.id.value, cells.at(trial.id.cell),
          cohorts.at(trial.cohort), trial.id.seed_index, trial.seed,
          std::string(Name(trial.state)), trial.reason)
        .Finish();
  }
}

absl::Status ChangeWriter::On(const AddSweep& change) {
  if (absl::Status fit = CheckParts(change); !fit.ok()) return fit;
  const SweepId id = change.sweep.id;
  if (Query(connection_, "SELECT 1 FROM sweep WHERE id = ?", id.value).Next()) {
    return absl::AlreadyExistsError("sweep " + ToText(id) +
                                    " is stored already");
  }
  Insert(change.sweep);
  InsertParts(change);
  return absl::OkStatus();
}

// Removed at the beginning of time: out of sight for every reader, and deleted
// with what has been removed unless it is admitted.
absl::Status ChangeWriter::On(const StageSweep& change) {
  const AddSweep& part = change.part;
  if (absl::Status fit = CheckParts(part); !fit.ok()) return fit;
  const SweepId id = part.sweep.id;
  std::optional<int64_t> removed_at;
  bool is_there = false;
  {
    Query query(connection_, "SELECT removed_at FROM sweep WHERE id = ?",
                id.value);
    is_there = query.Next();
    if (is_there) query.Read(removed_at);
  }
  if (is_there && removed_at != 0) {
    return absl::AlreadyExistsError("sweep " + ToText(id) +
                                    " is stored already");
  }
  if (!is_there) {
    Insert(part.sweep);
    Query(connection_, "UPDATE sweep SET removed_at = 0 WHERE id = ?", id.value)
        .Finish();
  }
  InsertParts(part);
  return absl::OkStatus();
}

absl::Status ChangeWriter::On(const AdmitSweep& change) {
  const int64_t admitted =
      Query(connection_,
            "UPDATE sweep SET removed_at = NULL, submitted_at = ? WHERE id = ? "
            "AND removed_at = 0",
            int64_t{change.submitted_at.time_since_epoch().count()},
            change.sweep.value)
          .Finish();
  if (admitted == 1) return absl::OkStatus();
  return absl::NotFoundError("no staged sweep " + ToText(change.sweep));
}

}  // namespace leadline::storage::sqlite
