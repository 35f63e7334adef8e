// A memory store behind a store of a test's own, which meddles with commits.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/open.h"

namespace leadline::test {

/// Hands everything on; override what a test is about.
class MemoryStoreBehind : public storage::Store {
 public:
  absl::Status Commit(std::span<const storage::Change> changes) override {
    return inner_.store->Commit(changes);
  }
  storage::PointCounts CountPoints() const override {
    return inner_.store->CountPoints();
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
  absl::StatusOr<storage::SweepContents> LoadCells(
      SweepId sweep, int64_t first, int64_t count) const override {
    return inner_.store->LoadCells(sweep, first, count);
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

 private:
  storage::StorePair inner_ = storage::MakeMemoryStore();
};

}  // namespace leadline::test
