// fill_store DATABASE TRIALS POINTS
//
// Makes a database through the production store: one active sweep with half of
// the trials, partly trained, and sweeps of 1,000 trials beside it, most of
// them complete. What bench/store_at_size.py asks.

#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "coordinator/control/sweeps.h"
#include "coordinator/rpc/plan_request.h"
#include "coordinator/rpc/sweep_convert.h"
#include "storage/open.h"
#include "tests/support/grid_text.h"

namespace leadline {
namespace {

using storage::Change;

constexpr int64_t kSeeds = 5;
constexpr int64_t kSmallSweep = 1000;
constexpr size_t kCommitPoints = 50'000;
constexpr int64_t kLongTrials = 20;  // of the second sweep
constexpr int64_t kLongSteps = 20'000;
const std::vector<std::string> kMetrics = {"train_loss", "gradient_norm",
                                           "learning_rate", "clip_factor"};

void Check(const absl::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

control::NewSweep Plan(int64_t number, int64_t trials) {
  v1::SubmitRequest request;
  request.set_text(
      test::GridText("study " + std::to_string(number), trials, kSeeds));
  request.set_file("sweep.yaml");
  request.set_base_folder("/");
  request.set_user(number % 3 == 0 ? "ada" : "emmy");
  const rpc::Planned planned = rpc::PlanRequest(request, true, {});
  if (!planned.status.ok()) {
    throw std::runtime_error(planned.status.error_message());
  }
  return rpc::ToNewSweep(planned.sweep, planned.plan, request);
}

storage::WallTime At(int64_t seconds) {
  return storage::WallTime(std::chrono::seconds(1'790'000'000 + seconds));
}

class Filler {
 public:
  Filler(storage::Store& store, int64_t points_a_trial)
      : store_(store), points_(points_a_trial) {}

  void Fill(int64_t number, int64_t trials) {
    storage::AddSweep sweep =
        control::BuildSweep(Plan(number, trials), {number});
    sweep.sweep.submitted_at = At(number * 1000);
    const auto cohorts = sweep.cohorts;
    const auto of_sweep = sweep.trials;
    Do(std::move(sweep));
    const bool active = number == 1 || number % 10 == 0;
    const size_t until = active ? cohorts.size() / 2 : cohorts.size();
    auto trial = of_sweep.begin();
    for (size_t i = 0; i < until; ++i) {
      std::vector<storage::TrialRecord> held;
      while (trial != of_sweep.end() && trial->cohort == cohorts[i].id) {
        held.push_back(*trial++);
      }
      const bool fails = number > 1 && i % 50 == 49;
      const bool is_long =
          number == 2 && static_cast<int64_t>(i) < kLongTrials / kSeeds;
      Run(cohorts[i].id, held, fails, is_long);
      if (pending_ >= kCommitPoints) Commit();
    }
    if (!active) {
      Do(storage::MoveSweep{
          {number}, SweepState::kActive, SweepState::kComplete});
    }
    Commit();
  }

 private:
  void Do(Change change) { changes_.push_back(std::move(change)); }

  void Commit() {
    Check(store_.Commit(changes_));
    changes_.clear();
    pending_ = 0;
  }

  void Move(const std::vector<storage::TrialRecord>& trials, TrialState from,
            TrialState to, const std::string& reason = "") {
    for (const auto& trial : trials) {
      Do(storage::MoveTrial{trial.id, from, to, reason});
    }
  }

  void Run(const CohortId& cohort,
           const std::vector<storage::TrialRecord>& trials, bool fails,
           bool is_long) {
    const AttemptKey key{cohort, 1};
    storage::AttemptRecord attempt;
    attempt.key = key;
    attempt.node = "node-" + std::to_string(cohort.cell.number % 8);
    attempt.instance = "i1";
    attempt.devices = {"cpu:0"};
    attempt.started_at = At(cohort.cell.number);
    Do(storage::StartAttempt{attempt});
    attempt.device = "cpu";
    attempt.numerics = "fused-fp32";
    attempt.version = "0.1.0";
    attempt.threads = 1;
    Do(storage::DescribeAttempt{attempt});
    Move(trials, TrialState::kQueued, TrialState::kLeased);
    Move(trials, TrialState::kLeased, TrialState::kRunning);
    for (const auto& trial : trials) {
      Measure(key, trial.id, is_long ? kLongSteps : points_);
    }
    if (fails) {
      Move(trials, TrialState::kRunning, TrialState::kFailed, "it crashed");
      Do(storage::EndAttempt{key, AttemptOutcome::kFailed, FailureKind::kCrash,
                             "exit code 1", At(cohort.cell.number + 60)});
      return;
    }
    for (const auto& trial : trials) Succeed(key, trial);
    Do(storage::EndAttempt{key, AttemptOutcome::kSucceeded, std::nullopt, "",
                           At(cohort.cell.number + 60)});
  }

  void Measure(const AttemptKey& key, const TrialId& trial, int64_t count) {
    storage::AddPoints points{key, {}};
    const auto metrics = static_cast<int64_t>(kMetrics.size());
    for (int64_t i = 0; i < count / metrics; ++i) {
      for (const std::string& metric : kMetrics) {
        points.points.push_back(
            {trial, metric, 10 * (i + 1), 3.0 / static_cast<double>(i + 1)});
      }
    }
    pending_ += points.points.size();
    Do(std::move(points));
    if (trial.seed_index != 0) return;
    storage::RoutingRecord routing{trial, 2000, {}, {}};
    for (size_t router = 0; router < 9; ++router) {
      storage::RouterRow& row = routing.map.emplace_back();
      for (size_t source = 0; source <= router; ++source) {
        row.sources.push_back(source == 0 ? "e" : "u" + std::to_string(source));
        row.weights.push_back(1.0 / static_cast<double>(router + 1));
      }
    }
    routing.statistics["route.entropy"] = std::vector<double>(9, 1.5);
    Do(storage::AddRouting{key, std::move(routing)});
  }

  void Succeed(const AttemptKey& key, const storage::TrialRecord& trial) {
    storage::ResultRecord result;
    result.trial = trial.id;
    result.attempt = key;
    // No two alike: equal losses are told as one run.
    result.validation_loss = 1.2 + 1e-9 * static_cast<double>(++results_);
    result.best_validation_loss = result.validation_loss;
    result.best_step = 2000;
    result.steps = 2000;
    result.tokens = 1'024'000;
    result.seconds = 60;
    result.peak_bytes = 1 << 26;
    result.parameters = 123'456;
    Do(storage::AddResult{result});
    Do(storage::MoveTrial{trial.id, TrialState::kRunning,
                          TrialState::kSucceeded, ""});
  }

  storage::Store& store_;
  const int64_t points_;
  std::vector<Change> changes_;
  size_t pending_ = 0;
  int64_t results_ = 0;
};

void Fill(const char* path, int64_t trials, int64_t points) {
  auto pair = storage::OpenSqliteStore(path);
  Check(pair.status());
  const int64_t large = trials / 2;
  const int64_t small = (trials - large) / kSmallSweep;
  int64_t trained = large / 2;
  for (int64_t number = 2; number <= small + 1; ++number) {
    trained += number % 10 == 0 ? kSmallSweep / 2 : kSmallSweep;
  }
  const int64_t rest = points - kLongTrials * kLongSteps;
  Filler filler(*pair->store, rest / (trained - kLongTrials));
  filler.Fill(1, large);
  for (int64_t number = 2; number <= small + 1; ++number) {
    filler.Fill(number, kSmallSweep);
  }
}

}  // namespace
}  // namespace leadline

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: fill_store DATABASE TRIALS POINTS\n";
    return 2;
  }
  try {
    leadline::Fill(argv[1], std::atoll(argv[2]), std::atoll(argv[3]));
  } catch (const std::exception& error) {
    std::cerr << "fill_store: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
