// The store of the programs, on a disk that fills up and under a process that
// may be killed at any commit.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oracle.h"
#include "storage/open.h"

namespace leadline::simulation {

/// Thrown out of a commit: the process dies there.
struct CoordinatorKilled {};

class SimStore final : public storage::Store {
 public:
  SimStore(storage::StorePair inner, Oracle& oracle)
      : inner_(std::move(inner)), oracle_(oracle) {}

  absl::Status Commit(std::span<const storage::Change> changes) override {
    if (is_full) return absl::UnavailableError("no space left on device");
    const bool dies = kill_in == 0;
    if (kill_in) --*kill_in;
    if (dies) kill_in.reset();
    if (dies && !kill_after) throw CoordinatorKilled{};
    const absl::Status committed = inner_.store->Commit(changes);
    if (committed.ok()) oracle_.OnCommitted(changes);
    if (!committed.ok() && !tolerates(committed)) {
      throw Violation("the store refuses a change: " +
                      std::string(committed.message()));
    }
    if (dies) throw CoordinatorKilled{};
    return committed;
  }

  absl::StatusOr<std::vector<storage::SweepContents>> LoadUnfinished()
      const override {
    return inner_.store->LoadUnfinished();
  }
  absl::StatusOr<storage::SweepContents> LoadSweep(
      SweepId sweep) const override {
    return inner_.store->LoadSweep(sweep);
  }
  absl::StatusOr<SweepId> NextSweepId() const override {
    return inner_.store->NextSweepId();
  }
  absl::StatusOr<std::optional<SweepId>> FindEqualSweep(
      const std::string& name, const std::string& hash) const override {
    return inner_.store->FindEqualSweep(name, hash);
  }
  absl::StatusOr<std::optional<std::string>> FindAnswer(
      const std::string& id) const override {
    return inner_.store->FindAnswer(id);
  }

  bool is_full = false;
  std::optional<int64_t> kill_in;  // commits until the process dies
  bool kill_after = false;         // once that commit is durable
  /// Refusals that are no fault: an orphan of an unknown attempt.
  std::function<bool(const absl::Status&)> tolerates =
      [](const absl::Status& status) { return absl::IsNotFound(status); };

 private:
  storage::StorePair inner_;
  Oracle& oracle_;
};

}  // namespace leadline::simulation
