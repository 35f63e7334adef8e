// What every store must do, run on each of them.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/open.h"
#include "tests/support/store_world.h"

namespace leadline {

/// How a store is made, and made again on what it left.
struct StoreKind {
  std::string name;
  std::function<storage::StorePair(const std::filesystem::path& folder)> open;
  bool lasts = true;  // what was committed is there when opened again
};

/// A store with one sweep, s1, of two cells with two seeds each.
class StoreContract : public ::testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    pair_ = GetParam().open(folder_.path());
    ASSERT_TRUE(Commit(test::MakeSweep(1, 2, 2)).ok());
  }

  storage::Store& store() { return *pair_.store; }
  const storage::StoreReader& reader() const { return *pair_.reader; }

  absl::Status Commit(const storage::Change& change) {
    return test::CommitOne(store(), change);
  }
  absl::StatusCode CodeOf(const storage::Change& change) {
    return Commit(change).code();
  }

  /// Attempt 1 of cell 1 runs both seeds.
  void RunFirstCell() {
    ASSERT_TRUE(test::Run(store(), test::Attempt(1, 1, 1),
                          {test::Trial(1, 1, 0), test::Trial(1, 1, 1)})
                    .ok());
  }

  /// The next attempt of a cell starts and fails; its trials stay queued.
  void FailNext(int64_t sweep, int64_t cell, int64_t number, FailureKind kind) {
    const AttemptKey key = test::Attempt(sweep, cell, number);
    ASSERT_TRUE(Commit(test::Start(key)).ok());
    ASSERT_TRUE(
        Commit(storage::EndAttempt{key, AttemptOutcome::kFailed, kind, "", {}})
            .ok());
  }

  void CancelQueued(const TrialId& trial, const std::string& reason) {
    ASSERT_TRUE(Commit(storage::MoveTrial{trial, TrialState::kQueued,
                                          TrialState::kCancelled, reason})
                    .ok());
  }

  std::string Contents() const {
    return test::Dump(pair_, {"train_loss", "gradient_norm"});
  }

  /// Closes the store and opens what it left; a store in memory stays.
  void Reopen() {
    if (!GetParam().lasts) return;
    pair_ = {};
    pair_ = GetParam().open(folder_.path());
  }

  test::TemporaryFolder folder_;
  storage::StorePair pair_;
};

}  // namespace leadline
