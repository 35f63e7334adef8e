// Complete is a comparison of sets: in whatever order trials are handed out,
// finish, fail and are tried again, a sweep is complete when the trials that
// have ended are those that were planned, and not before.

#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "common/random_stream.h"
#include "control_world.h"

namespace leadline::control {
namespace {

constexpr int64_t kCells = 2;
constexpr int64_t kSeeds = 2;
constexpr int64_t kOrders = 10'000;
constexpr int kMostEvents = 400;

class RandomOrder {
 public:
  explicit RandomOrder(uint64_t seed) : draws_(seed, "test/order") {
    world_.Submit(MakeSweep(kCells, kSeeds, 1 + Below(2)));
    for (int64_t cell = 1; cell <= kCells; ++cell) {
      for (int64_t s = 0; s < kSeeds; ++s) planned_.insert(Trial(1, cell, s));
    }
    for (int64_t n = 1, nodes = 1 + Below(2); n <= nodes; ++n) {
      world_.Register(n, "n" + std::to_string(n), 1 + Below(3));
    }
  }

  void Play() {
    for (int event = 0; event < kMostEvents && !IsComplete(); ++event) {
      Step();
      Compare();
      if (testing::Test::HasFailure()) return;
    }
    ASSERT_TRUE(IsComplete());
    EXPECT_EQ(Ended(), planned_);
    EXPECT_TRUE(world_.control().state().live.empty());
    for (const TrialId& trial : planned_) {
      succeeded_ += world_.StateOf(trial) == TrialState::kSucceeded;
      EXPECT_EQ(world_.reader().FindResult(trial)->has_value(),
                world_.StateOf(trial) == TrialState::kSucceeded);
    }
  }

  int64_t attempts() const { return attempts_; }
  int64_t succeeded() const { return succeeded_; }

 private:
  int64_t Below(uint64_t n) {
    return static_cast<int64_t>(draws_.Integer(next_++, n));
  }

  bool IsComplete() {
    return world_.StateOf(SweepId{1}) == SweepState::kComplete;
  }

  std::set<TrialId> Ended() {
    std::set<TrialId> ended;
    const auto rows = *world_.reader().ListTrials(SweepId{1}, std::nullopt,
                                                  std::nullopt, 1000);
    for (const storage::TrialRow& row : rows) {
      if (IsEnded(row.trial.state)) ended.insert(row.trial.id);
    }
    return ended;
  }

  void Compare() {
    const bool all_have_ended = Ended() == planned_;
    if (IsComplete()) {
      EXPECT_TRUE(all_have_ended);
    } else if (world_.control().state().live.empty()) {
      EXPECT_FALSE(all_have_ended);
    }
  }

  void Step() {
    const auto& live = world_.control().state().live;
    if (live.empty()) {
      world_.Idle(Seconds{5});
      return;
    }
    ++attempts_;
    auto at = live.begin();
    std::advance(at, Below(live.size()));
    const LiveAttempt attempt =
        *world_.CohortOf(1, at->cell.number, at->number).live;
    const AttemptKey key = attempt.record.key;
    const int64_t session =
        world_.control().state().nodes.at(attempt.record.node).session->value;
    switch (Below(6)) {
      case 0:
        world_.End(session, key, FailureKind::kCrash);
        return;
      case 1:
        world_.Do(AttemptRefused{{session}, key, FailureKind::kConfig, "no"});
        return;
      case 2:
        world_.End(session, key, FailureKind::kAgentLost);
        return;
      default:
        Finish(session, attempt);
    }
  }

  void Finish(int64_t session, const LiveAttempt& attempt) {
    const AttemptKey& key = attempt.record.key;
    std::vector<TrainerRecord> records;
    const auto trials = *world_.reader().CohortTrials(key.cohort);
    for (size_t r = 0; r < trials.size(); ++r) {
      records.push_back(ResultOf(static_cast<int64_t>(r) + 1,
                                 static_cast<int64_t>(r), trials[r].seed, 1.0));
    }
    world_.Send(session, key, std::move(records));
    world_.End(session, key);
  }

  RandomStream draws_;
  uint64_t next_ = 0;
  World world_;
  std::set<TrialId> planned_;
  int64_t attempts_ = 0;
  int64_t succeeded_ = 0;
};

TEST(PlanProperty, CompleteIsTheSetThatWasPlannedInEveryOrder) {
  int64_t attempts = 0;
  int64_t succeeded = 0;
  for (uint64_t seed = 0; seed < kOrders; ++seed) {
    RandomOrder order(seed);
    order.Play();
    if (HasFailure()) FAIL() << "in order " << seed;
    attempts += order.attempts();
    succeeded += order.succeeded();
  }
  const int64_t trials = kOrders * kCells * kSeeds;
  EXPECT_GT(attempts, trials);
  EXPECT_GT(succeeded, trials / 2);
  EXPECT_LT(succeeded, trials * 9 / 10);
}

}  // namespace
}  // namespace leadline::control
