#include "storage/sqlite/rows.h"

#include <sstream>
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

/// "RANK PID NODE DEVICES" each, in any order; node names have no blanks.
absl::Status ReadRanks(const std::string& json, AttemptRecord& attempt) {
  absl::StatusOr<std::vector<std::string>> rows = WordsFromJson(json);
  if (!rows.ok()) return rows.status();
  attempt.ranks.assign(rows->size(), {});
  for (const std::string& row : *rows) {
    std::istringstream fields(row);
    int64_t rank = -1;
    RankRecord one;
    std::string devices;
    fields >> rank >> one.pid >> one.node >> std::ws;
    std::getline(fields, devices);
    absl::StatusOr<std::vector<std::string>> words = WordsFromJson(devices);
    if (!words.ok() || rank < 0 || rank >= std::ssize(*rows)) {
      return Unreadable("rank of " + ToText(attempt.key), row);
    }
    one.devices = *std::move(words);
    attempt.ranks[static_cast<size_t>(rank)] = std::move(one);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadSweep(Query& query, SweepRecord& sweep) {
  std::string state;
  std::string on_failures;
  std::optional<int64_t> archived_at;
  std::string tags;
  int64_t submitted_at = 0;
  query.Read(sweep.id.value, sweep.name, sweep.description, sweep.user,
             sweep.source, sweep.canonical_hash, state, submitted_at,
             sweep.priority, sweep.parallel_limit, sweep.failure_limit,
             sweep.failure_row_limit, on_failures, sweep.failures_in_row,
             sweep.stopped_because, archived_at, sweep.note, tags);
  sweep.submitted_at = At(submitted_at);
  sweep.archived_at.reset();
  if (archived_at) sweep.archived_at = At(*archived_at);
  absl::StatusOr<std::vector<std::string>> words = WordsFromJson(tags);
  if (!words.ok()) return words.status();
  sweep.tags = *std::move(words);
  const auto parsed = ParseSweepState(state);
  if (!parsed) return Unreadable("state of sweep " + ToText(sweep.id), state);
  sweep.state = *parsed;
  const auto what = ParseOnFailures(on_failures);
  if (!what) {
    return Unreadable("policy of sweep " + ToText(sweep.id), on_failures);
  }
  sweep.on_failures = *what;
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
  std::optional<std::string> waits_after;
  std::string nodes;
  query.Read(cohort.id.cell.sweep.value, cohort.id.cell.number,
             cohort.id.number, cohort.attempts, cohort.failures,
             cohort.failures_in_row, cohort.furthest_step, cohort.spared,
             cohort.free_restarts, cohort.memory_tried, waits_after, nodes);
  cohort.waits_after.reset();
  if (waits_after) {
    cohort.waits_after = ParseFailureKind(*waits_after);
    if (!cohort.waits_after) {
      return Unreadable("kind of " + ToText(cohort.id), *waits_after);
    }
  }
  absl::StatusOr<std::vector<std::string>> words = WordsFromJson(nodes);
  if (!words.ok()) return words.status();
  cohort.failed_nodes = *std::move(words);
  return absl::OkStatus();
}

absl::Status ReadNode(Query& query, NodeRecord& node) {
  std::string failures;
  int64_t quarantined = 0;
  int64_t undecided = 0;
  std::optional<std::string> canary;
  query.Read(node.name, failures, quarantined, node.reason, node.rounds, canary,
             node.failed_canaries, undecided);
  node.quarantined = quarantined != 0;
  node.undecided = undecided != 0;
  absl::StatusOr<std::vector<std::string>> words = WordsFromJson(failures);
  if (!words.ok()) return words.status();
  if (canary) words->push_back(*canary);
  for (const std::string& word : *words) {
    const auto key = ParseAttemptKey(word);
    if (!key) return Unreadable("attempt on node " + node.name, word);
    node.failures.push_back(*key);
  }
  if (canary) {
    node.canary = node.failures.back();
    node.failures.pop_back();
  }
  return absl::OkStatus();
}

absl::Status ReadErrand(Query& query, ErrandRecord& errand) {
  int64_t cell = 0;
  int64_t failed = 0;
  int64_t cancelled = 0;
  std::string word;
  query.Read(errand.sweep.value, cell, word, failed, cancelled);
  const std::optional<ErrandKind> kind = ParseErrandKind(word);
  if (!kind) return Unreadable("errand of sweep " + ToText(errand.sweep), word);
  errand.kind = *kind;
  if (cell > 0) errand.cell = cell;
  errand.failed = failed != 0;
  errand.cancelled = cancelled != 0;
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
  std::string ranks;
  int64_t started_at = 0;
  std::optional<int64_t> ended_at;
  query.Read(key.cohort.cell.sweep.value, key.cohort.cell.number,
             key.cohort.number, key.number, attempt.node, attempt.instance,
             attempt.device, devices, attempt.numerics, attempt.version,
             attempt.commit, attempt.libraries, attempt.dataset_path,
             attempt.threads, attempt.parameters, attempt.last_sequence,
             attempt.step, started_at, ended_at, outcome, kind, attempt.message,
             attempt.stop_reason, ranks);
  attempt.started_at = At(started_at);
  if (ended_at) attempt.ended_at = At(*ended_at);
  absl::StatusOr<std::vector<std::string>> words = WordsFromJson(devices);
  if (!words.ok()) return words.status();
  attempt.devices = *std::move(words);
  if (absl::Status read = ReadRanks(ranks, attempt); !read.ok()) return read;
  const auto parsed = ParseAttemptOutcome(outcome);
  if (!parsed) return Unreadable("outcome of " + ToText(key), outcome);
  attempt.outcome = *parsed;
  if (kind) attempt.kind = ParseFailureKind(*kind);
  if (kind && !attempt.kind) return Unreadable("kind of " + ToText(key), *kind);
  return absl::OkStatus();
}

}  // namespace leadline::storage::sqlite
