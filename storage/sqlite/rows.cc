#include "storage/sqlite/rows.h"

#include <utility>

#include "storage/sqlite/json_array.h"

namespace leadline::storage::sqlite {
namespace {

absl::Status Unreadable(const std::string& what, const std::string& word) {
  return absl::DataLossError("stored " + what + " is unknown: " + word);
}

WallTime At(int64_t microseconds) {
  return WallTime(std::chrono::microseconds(microseconds));
}

}  // namespace

absl::Status ReadSweep(Query& query, SweepRecord& sweep) {
  std::string state;
  int64_t submitted_at = 0;
  query.Read(sweep.id.value, sweep.name, sweep.description, sweep.user,
             sweep.source, sweep.canonical_hash, state, submitted_at,
             sweep.priority, sweep.parallel_limit, sweep.failure_limit);
  sweep.submitted_at = At(submitted_at);
  const auto parsed = ParseSweepState(state);
  if (!parsed) return Unreadable("state of sweep " + ToText(sweep.id), state);
  sweep.state = *parsed;
  return absl::OkStatus();
}

absl::Status ReadCell(Query& query, CellRecord& cell) {
  DatasetRecord& dataset = cell.dataset;
  query.Read(cell.id.sweep.value, cell.id.number, cell.hash, cell.settings_json,
             cell.axes_json, cell.depth, cell.dataset_label, cell.method_label,
             dataset.name, dataset.path, dataset.content_hash,
             dataset.tokenizer, dataset.split[0], dataset.split[1],
             dataset.split[2], dataset.vocabulary, cell.unit,
             cell.validation_floor, cell.test_floor, cell.steps);
  return absl::OkStatus();
}

absl::Status ReadCohort(Query& query, CohortRecord& cohort) {
  query.Read(cohort.id.cell.sweep.value, cohort.id.cell.number,
             cohort.id.number, cohort.attempts, cohort.failures);
  return absl::OkStatus();
}

absl::Status ReadTrial(Query& query, TrialRecord& trial) {
  std::string state;
  CellId& cell = trial.id.cell;
  query.Read(cell.sweep.value, cell.number, trial.id.seed_index,
             trial.cohort.number, trial.seed, state, trial.reason);
  trial.cohort.cell = cell;
  const auto parsed = ParseTrialState(state);
  if (!parsed) return Unreadable("state of trial " + ToText(trial.id), state);
  trial.state = *parsed;
  return absl::OkStatus();
}

absl::Status ReadAttempt(Query& query, AttemptRecord& attempt) {
  AttemptKey& key = attempt.key;
  std::string devices;
  std::string outcome;
  std::optional<std::string> kind;
  int64_t started_at = 0;
  std::optional<int64_t> ended_at;
  query.Read(key.cohort.cell.sweep.value, key.cohort.cell.number,
             key.cohort.number, key.number, attempt.node, attempt.instance,
             attempt.device, devices, attempt.numerics, attempt.version,
             attempt.commit, attempt.libraries, attempt.dataset_path,
             attempt.threads, attempt.parameters, attempt.last_sequence,
             started_at, ended_at, outcome, kind, attempt.message);
  attempt.started_at = At(started_at);
  if (ended_at) attempt.ended_at = At(*ended_at);
  absl::StatusOr<std::vector<std::string>> words = WordsFromJson(devices);
  if (!words.ok()) return words.status();
  attempt.devices = *std::move(words);
  const auto parsed = ParseAttemptOutcome(outcome);
  if (!parsed) return Unreadable("outcome of " + ToText(key), outcome);
  attempt.outcome = *parsed;
  if (kind) attempt.kind = ParseFailureKind(*kind);
  if (kind && !attempt.kind) return Unreadable("kind of " + ToText(key), *kind);
  return absl::OkStatus();
}

}  // namespace leadline::storage::sqlite
