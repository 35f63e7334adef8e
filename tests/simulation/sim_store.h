// The store of the programs, on a disk that fills up and under a process that
// may be killed at any commit.

#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "oracle.h"
#include "plant.h"
#include "sim_trainer.h"
#include "storage/open.h"

namespace leadline::simulation {

/// Thrown out of a commit: the process dies there.
struct CoordinatorKilled {};

class SimStore final : public storage::Store {
 public:
  SimStore(storage::StorePair inner, Oracle& oracle, Plant plant)
      : inner_(std::move(inner)), oracle_(oracle), plant_(plant) {}

  absl::Status Commit(std::span<const storage::Change> changes) override {
    if (is_full) {
      if (plant_ == Plant::kFullDiskIgnored) return absl::OkStatus();
      return absl::UnavailableError("no space left on device");
    }
    if (std::any_of(changes.begin(), changes.end(), &HoldsPoison)) {
      return absl::InternalError("a value that no table takes");
    }
    const bool dies = kill_in == 0;
    if (kill_in) --*kill_in;
    if (dies) kill_in.reset();
    if (dies && !kill_after) throw CoordinatorKilled{};
    if (plant_ == Plant::kAcknowledgeBeforeCommit) return CommitLater(changes);
    const absl::Status committed = CommitNow(changes);
    if (dies) throw CoordinatorKilled{};
    return committed;
  }

  /// What is there, whatever the coordinator makes of it.
  const storage::Store& disk() const { return *inner_.store; }

  /// The process died: what it had not made durable is gone.
  void LoseWhatWaits() { waiting_.clear(); }

  absl::StatusOr<std::vector<storage::SweepContents>> LoadUnfinished()
      const override {
    auto loaded = inner_.store->LoadUnfinished();
    if (!loaded.ok()) return loaded;
    for (storage::SweepContents& sweep : *loaded) Spoil(sweep);
    return loaded;
  }
  absl::StatusOr<std::vector<storage::NodeRecord>> LoadNodes() const override {
    auto loaded = inner_.store->LoadNodes();
    if (!loaded.ok() || plant_ != Plant::kCanaryForgotten) return loaded;
    for (storage::NodeRecord& node : *loaded) node.canary.reset();
    return loaded;
  }
  absl::StatusOr<storage::SweepContents> LoadSweep(
      SweepId sweep) const override {
    return inner_.store->LoadSweep(sweep);
  }
  absl::StatusOr<storage::SweepContents> LoadCells(
      SweepId sweep, int64_t first, int64_t count) const override {
    return inner_.store->LoadCells(sweep, first, count);
  }
  absl::StatusOr<std::optional<storage::SweepRecord>> FindSweep(
      SweepId sweep) const override {
    return inner_.store->FindSweep(sweep);
  }
  absl::StatusOr<bool> Purge(const storage::PurgeLimits& limits) override {
    if (is_full) return absl::UnavailableError("no space left on device");
    staged_.clear();
    return inner_.store->Purge(limits);
  }
  absl::StatusOr<SweepId> NextSweepId() const override {
    return inner_.store->NextSweepId();
  }
  absl::StatusOr<std::optional<SweepId>> FindEqualSweep(
      const std::string& name, const std::string& hash) const override {
    if (plant_ == Plant::kRequestIdsIgnored) return std::nullopt;
    return inner_.store->FindEqualSweep(name, hash);
  }
  absl::StatusOr<std::optional<std::string>> FindAnswer(
      const std::string& id) const override {
    if (plant_ == Plant::kRequestIdsIgnored) return std::nullopt;
    return inner_.store->FindAnswer(id);
  }

  bool is_full = false;
  std::optional<int64_t> kill_in;  // commits until the process dies
  bool kill_after = false;         // once that commit is durable
  /// Refusals that are no fault: an orphan of an unknown attempt.
  std::function<bool(const absl::Status&)> tolerates =
      [](const absl::Status& status) { return absl::IsNotFound(status); };

 private:
  void Spoil(storage::SweepContents& sweep) const {
    if (plant_ == Plant::kFinishedTrialsForgotten) {
      for (storage::TrialRecord& trial : sweep.trials) {
        if (IsEnded(trial.state)) trial.state = TrialState::kQueued;
      }
    }
    if (plant_ == Plant::kTriesForgotten) {
      for (storage::CohortRecord& cohort : sweep.cohorts) {
        cohort.failures = 0;
        cohort.failures_in_row = 0;
      }
    }
    if (plant_ == Plant::kRowForgotten) sweep.sweep.failures_in_row = 0;
    if (plant_ == Plant::kPauseForgotten) {
      sweep.sweep.state = SweepState::kActive;
    }
    if (plant_ == Plant::kErrandForgotten) sweep.errands.clear();
    if (plant_ == Plant::kStopForgotten) {
      for (storage::AttemptRecord& live : sweep.live) live.stop_reason.clear();
    }
  }

  absl::Status CommitNow(std::span<const storage::Change> changes) {
    std::vector<storage::Change> all(changes.begin(), changes.end());
    if (plant_ == Plant::kRequestIdsIgnored) {
      std::erase_if(all, [](const storage::Change& change) {
        return std::holds_alternative<storage::KeepAnswer>(change);
      });
    }
    if (plant_ == Plant::kCounterInsteadOfSet) CountEnds(all);
    if (plant_ == Plant::kTriesKeptByRetry) {
      std::erase_if(all, [](const storage::Change& change) {
        const auto* set = std::get_if<storage::SetStanding>(&change);
        return set && set->cohort.failures == 0 && !set->cohort.waits_after;
      });
    }
    const absl::Status committed = inner_.store->Commit(all);
    if (committed.ok()) oracle_.OnCommitted(AsWholes(std::move(all)));
    if (!committed.ok() && !tolerates(committed)) {
      throw Violation("the store refuses a change: " +
                      std::string(committed.message()));
    }
    return committed;
  }

  /// Nobody sees a sweep that is stored in parts until the last one is.
  std::vector<storage::Change> AsWholes(std::vector<storage::Change> changes) {
    for (storage::Change& change : changes) {
      if (const auto* stage = std::get_if<storage::StageSweep>(&change)) {
        storage::AddSweep& all = staged_[stage->part.sweep.id];
        all.sweep = stage->part.sweep;
        Append(stage->part.cells, all.cells);
        Append(stage->part.cohorts, all.cohorts);
        Append(stage->part.trials, all.trials);
      } else if (const auto* admit =
                     std::get_if<storage::AdmitSweep>(&change)) {
        storage::AddSweep all = std::move(staged_.at(admit->sweep));
        staged_.erase(admit->sweep);
        change = std::move(all);
      }
    }
    std::erase_if(changes, [](const storage::Change& change) {
      return std::holds_alternative<storage::StageSweep>(change);
    });
    return changes;
  }

  template <typename Value>
  static void Append(const std::vector<Value>& part, std::vector<Value>& all) {
    all.insert(all.end(), part.begin(), part.end());
  }

  static bool HoldsPoison(const storage::Change& change) {
    const auto* add = std::get_if<storage::AddPoints>(&change);
    return add && std::ranges::any_of(add->points, [](const auto& point) {
             return point.value == kPoison;
           });
  }

  absl::Status CommitLater(std::span<const storage::Change> changes) {
    std::vector<storage::Change> due = std::exchange(waiting_, {});
    waiting_.assign(changes.begin(), changes.end());
    return due.empty() ? absl::OkStatus() : CommitNow(due);
  }

  /// Takes every end of an attempt for the end of a trial.
  void CountEnds(std::vector<storage::Change>& changes) {
    std::vector<storage::Change> more;
    for (const storage::Change& change : changes) {
      if (const auto* add = std::get_if<storage::AddSweep>(&change)) {
        left_[add->sweep.id] = static_cast<int64_t>(add->trials.size());
      }
      if (const auto* stage = std::get_if<storage::StageSweep>(&change)) {
        left_[stage->part.sweep.id] +=
            static_cast<int64_t>(stage->part.trials.size());
      }
      const auto* end = std::get_if<storage::EndAttempt>(&change);
      if (!end) continue;
      const SweepId sweep = end->attempt.cohort.cell.sweep;
      if (--left_[sweep] == 0) {
        more.emplace_back(storage::MoveSweep{sweep, SweepState::kActive,
                                             SweepState::kComplete});
      }
    }
    changes.insert(changes.end(), more.begin(), more.end());
  }

  storage::StorePair inner_;
  Oracle& oracle_;
  Plant plant_;
  std::vector<storage::Change> waiting_;
  std::map<SweepId, int64_t> left_;
  std::map<SweepId, storage::AddSweep> staged_;
};

}  // namespace leadline::simulation
