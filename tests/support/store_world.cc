#include "tests/support/store_world.h"

#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace leadline::test {

using storage::AttemptRecord;
using storage::CellRecord;
using storage::Change;
using storage::MoveTrial;
using storage::WallTime;

TemporaryFolder::TemporaryFolder() {
  std::string name =
      (std::filesystem::temp_directory_path() / "leadline-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

SweepId Sweep(int64_t number) { return {number}; }
CellId Cell(int64_t sweep, int64_t cell) { return {{sweep}, cell}; }
TrialId Trial(int64_t sweep, int64_t cell, int64_t seed_index) {
  return {{{sweep}, cell}, seed_index};
}
CohortId Cohort(int64_t sweep, int64_t cell) { return {{{sweep}, cell}, 0}; }
AttemptKey Attempt(int64_t sweep, int64_t cell, int64_t number) {
  return {Cohort(sweep, cell), number};
}

storage::AddSweep MakeSweep(int64_t number, int64_t cells, int64_t seeds) {
  storage::AddSweep add;
  add.sweep.id = {number};
  add.sweep.name = "depth study";
  add.sweep.description = "does it help?";
  add.sweep.user = "ada";
  add.sweep.source = "leadline: 1\n";
  add.sweep.canonical_hash = "hash" + std::to_string(number);
  add.sweep.submitted_at =
      WallTime(std::chrono::microseconds(1'764'428'645'000'000 + number));
  for (int64_t c = 1; c <= cells; ++c) {
    CellRecord& cell = add.cells.emplace_back();
    cell.id = Cell(number, c);
    cell.hash = "cell" + std::to_string(c);
    cell.settings_json = R"({"depth":4,"lr":0.001,"method":"wav"})";
    cell.axes_json = R"({"depth":"4"})";
    cell.depth = 4 * c;
    cell.dataset_label = "grammar16";
    cell.method_label = "wav(rho=2)";
    cell.dataset = {.name = "grammar16",
                    .path = "",
                    .content_hash = "abc",
                    .tokenizer = "char",
                    .split = {0.9, 0.05, 0.05},
                    .vocabulary = 28};
    cell.validation_floor = 1.25;
    cell.steps = 300;
    add.cohorts.push_back({.id = Cohort(number, c)});
    for (int64_t s = 0; s < seeds; ++s) {
      storage::TrialRecord& trial = add.trials.emplace_back();
      trial.id = Trial(number, c, s);
      trial.cohort = Cohort(number, c);
      trial.seed = 10 * s;
    }
  }
  return add;
}

storage::StartAttempt Start(const AttemptKey& key) {
  AttemptRecord attempt;
  attempt.key = key;
  attempt.node = "node-a";
  attempt.instance = "i1";
  attempt.devices = {"cpu:0", "cpu:1"};
  attempt.ranks = {{"node-a", attempt.devices, 0}};
  attempt.started_at =
      WallTime(std::chrono::microseconds(1'764'428'646'000'000));
  return {attempt};
}

storage::ResultRecord MakeResult(const TrialId& trial,
                                 const AttemptKey& attempt, double loss) {
  storage::ResultRecord result;
  result.trial = trial;
  result.attempt = attempt;
  result.validation_loss = loss;
  result.test_loss = loss + 0.5;
  result.best_validation_loss = loss - 0.25;
  result.best_step = 250;
  result.steps = 300;
  result.tokens = 153600;
  result.seconds = 12.5;
  result.peak_bytes = 1 << 20;
  result.parameters = 12345;
  result.determinism = Determinism::kWithinTolerance;
  return result;
}

absl::Status CommitOne(storage::Store& store, const Change& change) {
  return store.Commit(std::span(&change, 1));
}

absl::Status Run(storage::Store& store, const AttemptKey& attempt,
                 const std::vector<TrialId>& trials) {
  std::vector<Change> changes = {Start(attempt)};
  for (const TrialId& trial : trials) {
    changes.push_back(
        MoveTrial{trial, TrialState::kQueued, TrialState::kLeased, ""});
    changes.push_back(
        MoveTrial{trial, TrialState::kLeased, TrialState::kRunning, ""});
  }
  return store.Commit(changes);
}

absl::Status Succeed(storage::Store& store, const TrialId& trial,
                     const AttemptKey& attempt, double loss) {
  const std::vector<Change> changes = {
      storage::AddResult{MakeResult(trial, attempt, loss)},
      MoveTrial{trial, TrialState::kRunning, TrialState::kSucceeded, ""}};
  return store.Commit(changes);
}

}  // namespace leadline::test
