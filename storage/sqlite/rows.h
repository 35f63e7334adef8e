// Records from the columns of a row, column lists beside what reads them.

#pragma once

#include <string>

#include <absl/status/status.h>

#include "storage/errand.h"
#include "storage/records.h"
#include "storage/sqlite/connection.h"

namespace leadline::storage::sqlite {

#define LEADLINE_SWEEP_COLUMNS                                                 \
  "s.id, s.name, s.description, s.user, s.source, s.canonical_hash, s.state,"  \
  " s.submitted_at, s.priority, s.parallel_limit, s.failure_limit,"            \
  " s.failure_row_limit, s.on_failures, s.failures_in_row, s.stopped_because," \
  " s.archived_at, s.note, s.tags"
#define LEADLINE_CELL_COLUMNS                                                 \
  "c.sweep, c.number, c.hash, c.settings_json, c.axes_json, c.depth,"         \
  " c.dataset_label, c.method_label, c.dataset_name, c.dataset_path,"         \
  " c.dataset_hash, c.tokenizer, c.train_fraction, c.validation_fraction,"    \
  " c.test_fraction, c.vocabulary, c.unit, c.validation_floor, c.test_floor," \
  " c.steps"
#define LEADLINE_COHORT_COLUMNS                                             \
  "c.sweep, c.number, h.number, h.attempts, h.failures, h.failures_in_row," \
  " h.furthest_step, h.spared, h.free_restarts, h.memory_tried,"            \
  " h.waits_after, h.failed_nodes"
#define LEADLINE_NODE_COLUMNS                                        \
  "n.name, n.failures, n.quarantined, n.reason, n.rounds, n.canary," \
  " n.failed_canaries, n.undecided"
#define LEADLINE_ERRAND_COLUMNS "e.sweep, e.cell, e.kind, e.failed, e.cancelled"
#define LEADLINE_TRIAL_COLUMNS \
  "c.sweep, c.number, t.seed_index, h.number, t.seed, t.state, t.reason"
#define LEADLINE_ATTEMPT_COLUMNS                                             \
  "c.sweep, c.number, h.number, a.number, a.node, a.instance, a.device,"     \
  " a.devices, a.numerics, a.version, a.commit_id, a.libraries,"             \
  " a.dataset_path, a.threads, a.parameters, a.last_sequence, a.step,"       \
  " a.started_at, a.ended_at, a.outcome, a.kind, a.message, a.stop_reason,"  \
  " (SELECT json_group_array(r.rank || ' ' || r.pid || ' ' || r.node || ' '" \
  " || r.devices) FROM attempt_rank r WHERE r.cohort = a.cohort AND"         \
  " r.number = a.number)"

/// Each reads its columns from the row. DataLoss where a stored word is none
/// of ours.
absl::Status ReadSweep(Query& query, SweepRecord& sweep);
absl::Status ReadCell(Query& query, CellRecord& cell);
absl::Status ReadCohort(Query& query, CohortRecord& cohort);
absl::Status ReadTrial(Query& query, TrialRecord& trial);
absl::Status ReadAttempt(Query& query, AttemptRecord& attempt);
absl::Status ReadNode(Query& query, NodeRecord& node);
absl::Status ReadErrand(Query& query, ErrandRecord& errand);

}  // namespace leadline::storage::sqlite
