// A store whose commits are timed and counted on their way to another.

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coordinator/control/moment.h"
#include "coordinator/metrics/counters.h"
#include "storage/store.h"

namespace leadline::metrics {

/// Thread-safe if commits come from one thread at a time. Counts what is on
/// disk, never what was only tried.
class MeasuredStore final : public storage::Store {
 public:
  /// `inner` and `counters` must outlive it.
  MeasuredStore(storage::Store& inner, Counters& counters,
                std::function<control::SteadyTime()> now)
      : inner_(inner), counters_(counters), now_(std::move(now)) {}

  absl::Status Commit(std::span<const storage::Change> changes) override;

  storage::PointCounts CountPoints() const override {
    return inner_.CountPoints();
  }
  absl::StatusOr<std::vector<storage::SweepContents>> LoadUnfinished()
      const override {
    return inner_.LoadUnfinished();
  }
  absl::StatusOr<std::vector<storage::NodeRecord>> LoadNodes() const override {
    return inner_.LoadNodes();
  }
  absl::StatusOr<storage::SweepContents> LoadSweep(
      SweepId sweep) const override {
    return inner_.LoadSweep(sweep);
  }
  absl::StatusOr<storage::SweepContents> LoadCells(
      SweepId sweep, int64_t first, int64_t count) const override {
    return inner_.LoadCells(sweep, first, count);
  }
  absl::StatusOr<std::optional<storage::SweepRecord>> FindSweep(
      SweepId sweep) const override {
    return inner_.FindSweep(sweep);
  }
  absl::StatusOr<bool> Purge(const storage::PurgeLimits& limits) override {
    return inner_.Purge(limits);
  }
  absl::StatusOr<SweepId> NextSweepId() const override {
    return inner_.NextSweepId();
  }
  absl::StatusOr<std::optional<SweepId>> FindEqualSweep(
      const std::string& name,
      const std::string& canonical_hash) const override {
    return inner_.FindEqualSweep(name, canonical_hash);
  }
  absl::StatusOr<std::optional<std::string>> FindAnswer(
      const std::string& request_id) const override {
    return inner_.FindAnswer(request_id);
  }

 private:
  void Count(std::span<const storage::Change> changes);

  storage::Store& inner_;
  Counters& counters_;
  const std::function<control::SteadyTime()> now_;
  storage::PointCounts points_;
};

}  // namespace leadline::metrics
