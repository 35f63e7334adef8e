// The store in memory and the store on SQLite do the same: random changes,
// valid or not, get the same answers and leave the same contents.

#include <limits>

#include <gtest/gtest.h>

#include "common/random_stream.h"
#include "tests/support/store_world.h"

namespace leadline {
namespace {

using namespace storage;  // NOLINT(google-build-using-namespace)

constexpr int kRuns = 25;
constexpr int kCommits = 120;

class RandomChanges {
 public:
  RandomChanges(uint64_t seed, const StorePair& now)
      : stream_(seed, "test/changes"), now_(now) {}

  std::vector<Change> Commit() {
    std::vector<Change> changes;
    const uint64_t count = 1 + Pick(2);
    for (uint64_t i = 0; i < count; ++i) changes.push_back(One());
    return changes;
  }

 private:
  uint64_t Pick(uint64_t below) { return stream_.Integer(next_++, below); }
  int64_t Small(uint64_t below) { return static_cast<int64_t>(Pick(below)); }

  template <typename List>
  auto OneOf(const List& list) {
    return list[Pick(list.size())];
  }

  TrialId Trial() { return test::Trial(1 + Small(3), 1 + Small(3), Small(3)); }
  /// Mostly the cohort's last attempt.
  AttemptKey Attempt() {
    AttemptKey key = test::Attempt(1 + Small(3), 1 + Small(3), 1 + Small(3));
    if (Pick(5) != 0) key.number = Last(key.cohort);
    return key;
  }

  int64_t Last(const CohortId& cohort) {
    const auto attempts = now_.reader->ListAttempts(cohort);
    return std::ssize(attempts.value());
  }

  /// Mostly the state it is in.
  TrialState From(const TrialId& trial) {
    const auto row = now_.reader->GetTrial(trial);
    if (row.ok() && Pick(5) != 0) return row->trial.state;
    return OneOf(kTrialStates);
  }

  double Value() {
    const double special[] = {std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              5e-324,
                              1e308,
                              2.0};
    if (Pick(3) == 0) return special[Pick(std::size(special))];
    return stream_.Normal(2 * next_++);
  }

  Change One() {
    const AttemptKey attempt = Attempt();
    // Mostly of the attempt's own cohort, so that many writes are valid.
    TrialId trial = Trial();
    if (Pick(4) != 0) trial.cell = attempt.cohort.cell;
    switch (Pick(40) == 0 ? 0 : 1 + Pick(16)) {
      case 0: {
        AddSweep add =
            test::MakeSweep(1 + Small(3), 1 + Small(3), 1 + Small(3));
        if (Pick(4) == 0) add.trials[0].seed = 10;
        return add;
      }
      case 1:
        return MoveSweep{
            {1 + Small(3)}, OneOf(kSweepStates), OneOf(kSweepStates)};
      case 2:
      case 3:
        return MoveTrial{trial, From(trial), OneOf(kTrialStates), "r"};
      case 4:
        return test::Start({attempt.cohort, Last(attempt.cohort) + 1});
      case 5: {
        AttemptRecord said;
        said.key = attempt;
        if (Pick(2) == 0) said.device = "cpu";
        said.threads = Small(3);
        return DescribeAttempt{said};
      }
      case 6: {
        EndAttempt end{attempt, OneOf(kAttemptOutcomes), {}, "m", {}};
        if (Pick(2) == 0) end.kind = OneOf(kFailureKinds);
        return end;
      }
      case 7:
        return Acknowledge{attempt, Small(50), Small(50)};
      case 8:
        return AddPoints{attempt,
                         {{trial, "train_loss", Small(5), Value()},
                          {trial, "gradient_norm", Small(5), Value()}}};
      case 9: {
        RoutingRecord routing{trial, Small(3), {}, {}};
        routing.map.push_back({{"e", "u0"}, {Value(), Value()}});
        if (Pick(5) == 0) routing.map[0].weights.pop_back();
        routing.statistics["s" + std::to_string(Pick(2))] = {Value()};
        return AddRouting{attempt, routing};
      }
      case 10:
        return AddWindows{attempt, {trial, Small(3), "validation", {Value()}}};
      case 11:
        return AddResult{test::MakeResult(trial, attempt, Value())};
      case 12: {
        CohortRecord cohort;
        cohort.id = attempt.cohort;
        cohort.failures = Small(5);
        cohort.furthest_step = Small(100);
        if (Pick(2) == 0) cohort.waits_after = OneOf(kFailureKinds);
        if (Pick(2) == 0) cohort.failed_nodes = {"a", "b"};
        return SetStanding{cohort};
      }
      case 13: {
        NodeRecord node;
        node.name = "n" + std::to_string(Pick(3));
        node.quarantined = Pick(2) == 0;
        if (Pick(4) != 0) node.reason = "r";
        if (Pick(2) == 0) node.failures.push_back(attempt);
        if (Pick(3) == 0) node.canary = attempt;
        return SetNode{node};
      }
      case 15: {
        ErrandRecord errand{{1 + Small(4)}, std::nullopt, ErrandKind::kRetry};
        if (Pick(2) == 0) errand.cell = Small(3);
        if (Pick(2) == 0) errand.kind = ErrandKind::kStop;
        errand.failed = errand.kind == ErrandKind::kRetry || Pick(8) == 0;
        if (Pick(2) == 0) return EndErrand{errand};
        return BeginErrand{errand};
      }
      case 14:
        return StopSweep{{1 + Small(4)}, Pick(4) == 0 ? "" : "limits"};
      default:
        if (Pick(2) == 0) return KeepOrphan{{attempt, Small(4), "late"}};
        return KeepAnswer{
            "r" + std::to_string(Pick(3)), "a" + std::to_string(Pick(2)), {}};
    }
  }

  RandomStream stream_;
  const StorePair& now_;
  uint64_t next_ = 0;
};

TEST(StoreProperty, BothStoresAnswerAndHoldTheSame) {
  const std::vector<std::string> metrics = {"train_loss", "gradient_norm"};
  int accepted = 0;
  for (int run = 0; run < kRuns; ++run) {
    const test::TemporaryFolder folder;
    const StorePair memory = MakeMemoryStore();
    StorePair sqlite = OpenSqliteStore(folder.path() / "leadline.db").value();
    for (int64_t sweep = 1; sweep <= 1 + run % 3; ++sweep) {
      const Change add = test::MakeSweep(sweep, 3, 3);
      ASSERT_TRUE(test::CommitOne(*memory.store, add).ok());
      ASSERT_TRUE(test::CommitOne(*sqlite.store, add).ok());
    }
    RandomChanges random(static_cast<uint64_t>(run), memory);
    for (int i = 0; i < kCommits; ++i) {
      const std::vector<Change> changes = random.Commit();
      const absl::Status one = memory.store->Commit(changes);
      const absl::Status other = sqlite.store->Commit(changes);
      ASSERT_EQ(one, other) << "run " << run << ", commit " << i;
      accepted += one.ok() ? 1 : 0;
    }
    ASSERT_EQ(test::Dump(memory, metrics), test::Dump(sqlite, metrics))
        << "run " << run;
    sqlite = {};
    sqlite = OpenSqliteStore(folder.path() / "leadline.db").value();
    ASSERT_EQ(test::Dump(memory, metrics), test::Dump(sqlite, metrics))
        << "run " << run << ", opened again";
  }
  EXPECT_GT(accepted, kRuns * kCommits / 10)
      << "too few changes were valid to tell much";
}

}  // namespace
}  // namespace leadline
