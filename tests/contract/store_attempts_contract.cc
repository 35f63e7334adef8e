#include "tests/contract/store_contract.h"

namespace leadline {
namespace {

using storage::Acknowledge;
using storage::AskToStop;
using storage::AttemptRecord;
using storage::Change;
using storage::DescribeAttempt;
using storage::EndAttempt;
using storage::KeepOrphan;
using test::Attempt;
using test::Cohort;
using test::Start;
using test::Trial;

constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;

EndAttempt Fail(const AttemptKey& key) {
  return {key, AttemptOutcome::kFailed, FailureKind::kCrash, "signal 9", {}};
}

TEST_P(StoreContract, AttemptsCountFromOneWithoutGaps) {
  EXPECT_EQ(CodeOf(Start(Attempt(1, 1, 2))), kFailedPrecondition);
  EXPECT_EQ(CodeOf(Start(Attempt(1, 1, 0))), kFailedPrecondition);
  EXPECT_EQ(CodeOf(Start(Attempt(1, 9, 1))), kNotFound);
  EXPECT_TRUE(Commit(Start(Attempt(1, 1, 1))).ok());
  EXPECT_EQ(CodeOf(Start(Attempt(1, 1, 1))), kFailedPrecondition);
}

TEST_P(StoreContract, NoSecondAttemptWhileOneIsLive) {
  ASSERT_TRUE(Commit(Start(Attempt(1, 1, 1))).ok());
  EXPECT_EQ(CodeOf(Start(Attempt(1, 1, 2))), kFailedPrecondition);
  ASSERT_TRUE(Commit(Fail(Attempt(1, 1, 1))).ok());
  EXPECT_TRUE(Commit(Start(Attempt(1, 1, 2))).ok());
  EXPECT_EQ(store().LoadSweep({1})->cohorts[0].attempts, 2);
}

TEST_P(StoreContract, TheLastAttemptOfACohortIsLoadedIfItWasCancelled) {
  const auto end = [](const AttemptKey& key, AttemptOutcome outcome) {
    return EndAttempt{key, outcome, FailureKind::kCrash, "", {}};
  };
  for (const int64_t number : {1, 2}) {
    const AttemptKey key = Attempt(1, 1, number);
    ASSERT_TRUE(Commit(Start(key)).ok());
    EXPECT_THAT(store().LoadSweep({1})->cancelled, ::testing::IsEmpty());
    ASSERT_TRUE(Commit(end(key, AttemptOutcome::kCancelled)).ok());
    const auto contents = store().LoadUnfinished()->at(0);
    ASSERT_EQ(contents.cancelled.size(), 1U);
    EXPECT_EQ(contents.cancelled[0].key, key);
    EXPECT_EQ(contents.cancelled[0].node, Start(key).attempt.node);
    EXPECT_EQ(*store().LoadSweep({1}), contents);
  }
  for (const AttemptOutcome outcome :
       {AttemptOutcome::kFailed, AttemptOutcome::kSucceeded}) {
    const AttemptKey key =
        Attempt(1, 1, store().LoadSweep({1})->cohorts[0].attempts + 1);
    ASSERT_TRUE(Commit(Start(key)).ok());
    ASSERT_TRUE(Commit(end(key, outcome)).ok());
    EXPECT_THAT(store().LoadSweep({1})->cancelled, ::testing::IsEmpty());
  }
}

TEST_P(StoreContract, AnAttemptStartsWithoutAPast) {
  storage::StartAttempt ended = Start(Attempt(1, 1, 1));
  ended.attempt.outcome = AttemptOutcome::kFailed;
  EXPECT_EQ(CodeOf(ended), kInvalid);
}

TEST_P(StoreContract, AttemptsComeBackWithAllTheirFields) {
  storage::StartAttempt start = Start(Attempt(1, 1, 1));
  start.attempt.devices = {"GPU-1", "odd \"name\"\n"};
  start.attempt.ranks = {{"node-a", start.attempt.devices, 0}};
  ASSERT_TRUE(Commit(start).ok());
  AttemptRecord said;
  said.key = start.attempt.key;
  said.device = "cuda:0";
  said.numerics = "fused-fp32";
  said.version = "0.1.0";
  said.commit = "abc";
  said.libraries = "torch 2.11";
  said.dataset_path = "/data/text8";
  said.threads = 2;
  said.parameters = 12345;
  said.node = "another";
  ASSERT_TRUE(Commit(DescribeAttempt{said}).ok());
  AttemptRecord expected = said;
  expected.node = "node-a";
  expected.instance = "i1";
  expected.devices = start.attempt.devices;
  expected.started_at = start.attempt.started_at;
  expected.ranks = start.attempt.ranks;
  EXPECT_THAT(store().LoadSweep({1})->live, ::testing::ElementsAre(expected));

  AttemptRecord less;
  less.key = said.key;
  less.threads = 4;
  ASSERT_TRUE(Commit(DescribeAttempt{less}).ok());
  expected.threads = 4;
  Reopen();
  EXPECT_THAT(reader().ListAttempts(Cohort(1, 1)).value(),
              ::testing::ElementsAre(expected));
}

TEST_P(StoreContract, RanksSayWhereTheyRunAndUnderWhichProcess) {
  storage::StartAttempt start = Start(Attempt(1, 1, 1));
  start.attempt.node = "a+b";
  for (int64_t rank = 0; rank < 12; ++rank) {
    start.attempt.ranks.resize(static_cast<size_t>(rank + 1));
    start.attempt.ranks.back() = {
        rank < 6 ? "a" : "b", {"GPU-" + std::to_string(rank)}, 0};
  }
  ASSERT_TRUE(Commit(start).ok());
  EXPECT_TRUE(
      Commit(storage::SetRankPids{start.attempt.key, {{11, 71}, {0, 70}}})
          .ok());
  start.attempt.ranks[0].pid = 70;
  start.attempt.ranks[11].pid = 71;
  EXPECT_EQ(store().LoadSweep({1})->live.at(0).ranks, start.attempt.ranks);
  EXPECT_EQ(CodeOf(storage::SetRankPids{start.attempt.key, {{1, 8}, {12, 9}}}),
            kInvalid);
  Reopen();
  EXPECT_EQ(reader().ListAttempts(Cohort(1, 1))->at(0).ranks,
            start.attempt.ranks)
      << "what was refused changed nothing";
  ASSERT_TRUE(Commit(Fail(start.attempt.key)).ok());
  EXPECT_EQ(CodeOf(storage::SetRankPids{start.attempt.key, {{0, 8}}}),
            kFailedPrecondition);
}

TEST_P(StoreContract, EndingRecordsOutcomeKindAndMessage) {
  ASSERT_TRUE(Commit(Start(Attempt(1, 1, 1))).ok());
  EndAttempt end = Fail(Attempt(1, 1, 1));
  end.at = storage::WallTime(std::chrono::microseconds(42));
  ASSERT_TRUE(Commit(end).ok());
  const AttemptRecord stored = reader().ListAttempts(Cohort(1, 1))->at(0);
  EXPECT_EQ(stored.outcome, AttemptOutcome::kFailed);
  EXPECT_EQ(stored.kind, FailureKind::kCrash);
  EXPECT_EQ(stored.message, "signal 9");
  EXPECT_EQ(stored.ended_at, end.at);
  EXPECT_THAT(store().LoadSweep({1})->live, ::testing::IsEmpty());
}

TEST_P(StoreContract, EveryOutcomeAndKindComesBack) {
  int64_t number = 0;
  for (const AttemptOutcome outcome : kAttemptOutcomes) {
    if (outcome == AttemptOutcome::kLive) continue;
    for (const FailureKind kind : kFailureKinds) {
      ++number;
      ASSERT_TRUE(Commit(Start(Attempt(1, 1, number))).ok());
      EndAttempt end{Attempt(1, 1, number), outcome, kind, "", {}};
      ASSERT_TRUE(Commit(end).ok()) << Name(outcome);
      const AttemptRecord stored =
          reader().ListAttempts(Cohort(1, 1))->at(number - 1);
      EXPECT_EQ(stored.outcome, outcome);
      EXPECT_EQ(stored.kind, kind);
    }
  }
}

TEST_P(StoreContract, AnEndThatIsNoneIsRefused) {
  ASSERT_TRUE(Commit(Start(Attempt(1, 1, 1))).ok());
  EXPECT_EQ(
      CodeOf(EndAttempt{Attempt(1, 1, 1), AttemptOutcome::kLive, {}, "", {}}),
      kInvalid);
  EXPECT_EQ(
      CodeOf(EndAttempt{Attempt(1, 1, 1), AttemptOutcome::kFailed, {}, "", {}}),
      kInvalid);
}

TEST_P(StoreContract, ASupersededAttemptWritesNothing) {
  RunFirstCell();
  const AttemptKey old = Attempt(1, 1, 1);
  ASSERT_TRUE(
      Commit(EndAttempt{old, AttemptOutcome::kSuperseded, {}, "", {}}).ok());
  ASSERT_TRUE(Commit(Start(Attempt(1, 1, 2))).ok());
  const std::string before = Contents();
  AttemptRecord said;
  said.key = old;
  said.device = "cpu";
  const TrialId trial = Trial(1, 1, 0);
  const std::vector<Change> late = {
      DescribeAttempt{said},
      EndAttempt{old, AttemptOutcome::kSucceeded, {}, "", {}},
      Acknowledge{old, 5},
      storage::AddPoints{old, {{trial, "train_loss", 1, 1.0}}},
      storage::AddPoints{old, {}},
      storage::AddRouting{old, {trial, 1, {}, {}}},
      storage::AddWindows{old, {trial, 1, "validation", {1.0}}},
      storage::AddResult{test::MakeResult(trial, old, 1.0)}};
  for (const Change& change : late) {
    EXPECT_EQ(CodeOf(change), kFailedPrecondition) << change.index();
  }
  EXPECT_EQ(Contents(), before);
}

TEST_P(StoreContract, AnAttemptThatNeverWasWritesNothing) {
  EXPECT_EQ(CodeOf(Acknowledge{Attempt(1, 1, 1), 5}), kFailedPrecondition);
  EXPECT_EQ(CodeOf(Acknowledge{Attempt(8, 1, 1), 5}), kFailedPrecondition);
}

TEST_P(StoreContract, AnAttemptWritesOnlyForItsCohort) {
  RunFirstCell();
  const AttemptKey attempt = Attempt(1, 1, 1);
  for (const TrialId& other :
       {Trial(1, 2, 0), Trial(1, 1, 7), Trial(5, 1, 0)}) {
    const std::vector<Change> foreign = {
        storage::AddPoints{attempt, {{other, "train_loss", 1, 1.0}}},
        storage::AddRouting{attempt, {other, 1, {}, {}}},
        storage::AddWindows{attempt, {other, 1, "validation", {1.0}}},
        storage::AddResult{test::MakeResult(other, attempt, 1.0)}};
    for (const Change& change : foreign) {
      EXPECT_EQ(CodeOf(change), kFailedPrecondition) << change.index();
    }
  }
}

TEST_P(StoreContract, TheAcknowledgedSequenceNeverFalls) {
  RunFirstCell();
  EXPECT_TRUE(Commit(Acknowledge{Attempt(1, 1, 1), 10}).ok());
  EXPECT_TRUE(Commit(Acknowledge{Attempt(1, 1, 1), 4}).ok());
  Reopen();
  EXPECT_EQ(store().LoadSweep({1})->live.at(0).last_sequence, 10);
}

TEST_P(StoreContract, TheFirstReasonToStopStandsAndLasts) {
  const AttemptKey attempt = Attempt(1, 1, 1);
  EXPECT_EQ(CodeOf(AskToStop{attempt, "paused"}), kFailedPrecondition);
  RunFirstCell();
  EXPECT_TRUE(Commit(AskToStop{attempt, "paused"}).ok());
  EXPECT_TRUE(Commit(AskToStop{attempt, "again"}).ok());
  Reopen();
  EXPECT_EQ(store().LoadSweep({1})->live.at(0).stop_reason, "paused");
  ASSERT_TRUE(
      Commit(EndAttempt{attempt, AttemptOutcome::kPreempted, {}, "", {}}).ok());
  EXPECT_EQ(reader().ListAttempts(Cohort(1, 1))->at(0).stop_reason, "paused");
  EXPECT_EQ(CodeOf(AskToStop{attempt, "late"}), kFailedPrecondition);
}

TEST_P(StoreContract, OrphansAreKeptOnceAndApart) {
  RunFirstCell();
  const AttemptKey old = Attempt(1, 1, 1);
  ASSERT_TRUE(
      Commit(EndAttempt{old, AttemptOutcome::kSuperseded, {}, "", {}}).ok());
  EXPECT_TRUE(Commit(KeepOrphan{{old, 7, "late \xff"}}).ok());
  EXPECT_TRUE(Commit(KeepOrphan{{old, 7, "again"}}).ok());
  EXPECT_TRUE(Commit(KeepOrphan{{old, 3, "earlier"}}).ok());
  EXPECT_EQ(CodeOf(KeepOrphan{{Attempt(1, 1, 2), 1, ""}}), kNotFound);
  EXPECT_EQ(CodeOf(KeepOrphan{{Attempt(6, 1, 1), 1, ""}}), kNotFound);
  Reopen();
  using ::testing::ElementsAre;
  EXPECT_THAT(reader().ListOrphans(old, 0, 10).value(),
              ElementsAre(storage::OrphanRecord{old, 3, "earlier"},
                          storage::OrphanRecord{old, 7, "late \xff"}));
  EXPECT_THAT(reader().ListOrphans(old, 3, 10)->size(), 1U);
  EXPECT_THAT(reader().ListOrphans(old, 0, 1)->size(), 1U);
}

}  // namespace
}  // namespace leadline
