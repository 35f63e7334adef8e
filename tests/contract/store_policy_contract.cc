#include "tests/contract/store_contract.h"

namespace leadline {
namespace {

using storage::CohortRecord;
using storage::NodeRecord;
using storage::SetNode;
using storage::SetStanding;
using storage::StopSweep;
using test::Attempt;
using test::Cohort;
using test::Trial;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;

CohortRecord Standing() {
  CohortRecord cohort;
  cohort.id = Cohort(1, 1);
  cohort.failures = 5;
  cohort.failures_in_row = 2;
  cohort.furthest_step = 1200;
  cohort.spared = 1;
  cohort.free_restarts = 7;
  cohort.memory_tried = int64_t{1} << 40;
  cohort.waits_after = FailureKind::kOom;
  cohort.failed_nodes = {"a", "odd \"name\"\n"};
  return cohort;
}

TEST_P(StoreContract, StandingComesBackAndLeavesTheAttemptsAlone) {
  ASSERT_TRUE(Commit(test::Start(Attempt(1, 1, 1))).ok());
  CohortRecord standing = Standing();
  standing.attempts = 99;
  ASSERT_TRUE(Commit(SetStanding{standing}).ok());
  Reopen();
  standing.attempts = 1;
  EXPECT_EQ(store().LoadSweep({1})->cohorts[0], standing);
  EXPECT_EQ(store().LoadSweep({1})->cohorts[1].failures, 0);
}

TEST_P(StoreContract, StandingIsOfACohortThatIsThere) {
  CohortRecord standing = Standing();
  standing.id = Cohort(1, 9);
  EXPECT_EQ(CodeOf(SetStanding{standing}), kNotFound);
}

TEST_P(StoreContract, StepOfAnAttemptOnlyGrows) {
  ASSERT_TRUE(Commit(test::Start(Attempt(1, 1, 1))).ok());
  ASSERT_TRUE(Commit(storage::Acknowledge{Attempt(1, 1, 1), 3, 40}).ok());
  ASSERT_TRUE(Commit(storage::Acknowledge{Attempt(1, 1, 1), 4, 20}).ok());
  Reopen();
  EXPECT_EQ(store().LoadSweep({1})->live.at(0).step, 40);
  EXPECT_EQ(reader().ListAttempts(Cohort(1, 1))->at(0).step, 40);
}

TEST_P(StoreContract, NodesComeBackByNameAndCleanOnesAreForgotten) {
  NodeRecord node;
  node.name = "b";
  node.failures = {Attempt(1, 1, 1), Attempt(1, 2, 3)};
  node.quarantined = true;
  node.reason = "device: fell off the bus";
  node.rounds = 2;
  node.canary = Attempt(1, 2, 4);
  node.failed_canaries = 1;
  NodeRecord other;
  other.name = "a";
  other.undecided = true;
  ASSERT_TRUE(Commit(SetNode{node}).ok());
  ASSERT_TRUE(Commit(SetNode{other}).ok());
  Reopen();
  EXPECT_THAT(*store().LoadNodes(), ElementsAre(other, node));
  node.canary.reset();
  ASSERT_TRUE(Commit(SetNode{node}).ok());
  EXPECT_THAT(*store().LoadNodes(), ElementsAre(other, node));
  NodeRecord clean;
  for (const std::string name : {"a", "b", "never there"}) {
    clean.name = name;
    ASSERT_TRUE(Commit(SetNode{clean}).ok());
  }
  EXPECT_THAT(*store().LoadNodes(), IsEmpty());
}

TEST_P(StoreContract, QuarantineHasANameAndAReason) {
  NodeRecord node;
  node.quarantined = true;
  node.reason = "device";
  EXPECT_EQ(CodeOf(SetNode{node}), kInvalid);
  node.name = "a";
  node.reason = "";
  EXPECT_EQ(CodeOf(SetNode{node}), kInvalid);
}

TEST_P(StoreContract, FailuresInARowEndWithAResultOrARetry) {
  RunFirstCell();
  const auto row = [&] {
    return store().LoadSweep({1})->sweep.failures_in_row;
  };
  const auto move = [&](int64_t index, TrialState from, TrialState to) {
    ASSERT_TRUE(
        Commit(storage::MoveTrial{Trial(1, 1, index), from, to, ""}).ok());
  };
  move(0, TrialState::kRunning, TrialState::kFailed);
  EXPECT_EQ(row(), 1);
  move(1, TrialState::kRunning, TrialState::kDiverged);
  EXPECT_EQ(row(), 0);
  move(0, TrialState::kFailed, TrialState::kQueued);
  move(0, TrialState::kQueued, TrialState::kLeased);
  move(0, TrialState::kLeased, TrialState::kFailed);
  EXPECT_EQ(row(), 1);
  ASSERT_TRUE(Commit(StopSweep{{1}, "limits.failures"}).ok());
  Reopen();
  EXPECT_EQ(store().LoadSweep({1})->sweep.stopped_because, "limits.failures");
  EXPECT_EQ(row(), 1);
  move(0, TrialState::kFailed, TrialState::kQueued);
  EXPECT_EQ(row(), 0);
  EXPECT_EQ(store().LoadSweep({1})->sweep.stopped_because, "");
}

TEST_P(StoreContract, StopIsOfASweepThatIsThereAndSaysWhy) {
  EXPECT_EQ(CodeOf(StopSweep{{9}, "x"}), kNotFound);
  EXPECT_EQ(CodeOf(StopSweep{{1}, ""}), kInvalid);
}

TEST_P(StoreContract, LimitsOfFailuresComeBack) {
  storage::AddSweep add = test::MakeSweep(2, 1, 1);
  add.sweep.failure_limit = 7;
  add.sweep.failure_row_limit = 3;
  add.sweep.on_failures = OnFailures::kFinish;
  ASSERT_TRUE(Commit(add).ok());
  Reopen();
  EXPECT_EQ(store().LoadSweep({2})->sweep, add.sweep);
  EXPECT_EQ(reader().GetSweep({2})->sweep, add.sweep);
}

}  // namespace
}  // namespace leadline
