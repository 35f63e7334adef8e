// A memory store whose commits fail when told to.

#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/open.h"

namespace leadline::control {

/// The next `failures` commits fail with `failure`.
class FaultyStore final : public storage::Store {
 public:
  absl::Status Commit(std::span<const storage::Change> changes) override {
    ++commits;
    if (refuses) {
      const absl::Status refused = refuses(changes);
      if (!refused.ok()) return refused;
    }
    if (failures > 0) {
      --failures;
      return failure;
    }
    return inner_.store->Commit(changes);
  }
  absl::StatusOr<std::vector<storage::SweepContents>> LoadUnfinished()
      const override {
    return inner_.store->LoadUnfinished();
  }
  absl::StatusOr<std::vector<storage::NodeRecord>> LoadNodes() const override {
    return inner_.store->LoadNodes();
  }
  absl::StatusOr<storage::SweepContents> LoadSweep(
      SweepId sweep) const override {
    return inner_.store->LoadSweep(sweep);
  }
  absl::StatusOr<std::optional<storage::SweepRecord>> FindSweep(
      SweepId sweep) const override {
    return inner_.store->FindSweep(sweep);
  }
  absl::StatusOr<bool> Purge(const storage::PurgeLimits& limits) override {
    return inner_.store->Purge(limits);
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

  const storage::StoreReader& reader() const { return *inner_.reader; }

  std::atomic<int> failures = 0;
  std::atomic<int> commits = 0;
  absl::Status failure;
  /// What it makes of changes, if anything is to be wrong with some.
  std::function<absl::Status(std::span<const storage::Change>)> refuses;

 private:
  storage::StorePair inner_ = storage::MakeMemoryStore();
};

}  // namespace leadline::control
