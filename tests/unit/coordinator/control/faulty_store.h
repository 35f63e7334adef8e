// A memory store whose commits fail when told to.

#pragma once

#include <atomic>
#include <functional>
#include <span>

#include "tests/support/memory_store_behind.h"

namespace leadline::control {

/// The next `failures` commits fail with `failure`.
class FaultyStore final : public test::MemoryStoreBehind {
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
    return MemoryStoreBehind::Commit(changes);
  }

  std::atomic<int> failures = 0;
  std::atomic<int> commits = 0;
  absl::Status failure;
  /// What it makes of changes, if anything is to be wrong with some.
  std::function<absl::Status(std::span<const storage::Change>)> refuses;
};

}  // namespace leadline::control
