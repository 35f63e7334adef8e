#include "tests/contract/store_contract.h"

namespace leadline {
namespace {

using storage::AddSweep;
using storage::Change;
using storage::KeepAnswer;
using storage::MoveSweep;
using storage::MoveTrial;
using storage::SweepContents;
using test::Cell;
using test::MakeSweep;
using test::Sweep;
using test::Trial;

constexpr auto kAlreadyExists = absl::StatusCode::kAlreadyExists;
constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;

TEST_P(StoreContract, LoadGivesBackWhatWasAdded) {
  const AddSweep added = MakeSweep(1, 2, 2);
  const SweepContents contents = store().LoadSweep(Sweep(1)).value();
  EXPECT_EQ(contents.sweep, added.sweep);
  EXPECT_EQ(contents.cells, added.cells);
  EXPECT_EQ(contents.cohorts, added.cohorts);
  EXPECT_EQ(contents.trials, added.trials);
  EXPECT_THAT(contents.live, ::testing::IsEmpty());
  EXPECT_EQ(store().LoadSweep(Sweep(2)).status().code(), kNotFound);
}

/// Cells `first` to `last` of a sweep, with all that belongs to them.
storage::StageSweep PartOf(const AddSweep& whole, int64_t first, int64_t last) {
  storage::StageSweep stage;
  stage.part.sweep = whole.sweep;
  const auto is_in = [&](const CellId& cell) {
    return cell.number >= first && cell.number <= last;
  };
  for (const auto& cell : whole.cells) {
    if (is_in(cell.id)) stage.part.cells.push_back(cell);
  }
  for (const auto& cohort : whole.cohorts) {
    if (is_in(cohort.id.cell)) stage.part.cohorts.push_back(cohort);
  }
  for (const auto& trial : whole.trials) {
    if (is_in(trial.id.cell)) stage.part.trials.push_back(trial);
  }
  return stage;
}

TEST_P(StoreContract, AStagedSweepIsNotThereUntilItIsAdmittedAndThenAsAWhole) {
  const std::string before = Contents();
  const AddSweep whole = MakeSweep(2, 5, 2);
  ASSERT_TRUE(Commit(PartOf(whole, 1, 3)).ok());
  ASSERT_TRUE(Commit(PartOf(whole, 4, 5)).ok());
  EXPECT_EQ(Contents(), before);
  EXPECT_EQ(store().LoadUnfinished()->size(), 1U);
  EXPECT_EQ(store().LoadSweep(Sweep(2)).status().code(), kNotFound);
  EXPECT_EQ(store().FindSweep(Sweep(2))->has_value(), false);
  EXPECT_FALSE(store()
                   .FindEqualSweep(whole.sweep.name, whole.sweep.canonical_hash)
                   ->has_value());
  EXPECT_EQ(reader().GetSweep(Sweep(2)).status().code(), kNotFound);
  EXPECT_EQ(reader().GetTrial(Trial(2, 1, 0)).status().code(), kNotFound);
  EXPECT_EQ((*reader().CountTrials())[0], 4) << "queued ones of the other";
  EXPECT_EQ(*store().NextSweepId(), SweepId{3}) << "its number is taken";

  storage::SweepRecord record = whole.sweep;
  record.submitted_at += std::chrono::hours(1);
  ASSERT_TRUE(Commit(storage::AdmitSweep{Sweep(2), record.submitted_at}).ok());
  const SweepContents contents = store().LoadSweep(Sweep(2)).value();
  EXPECT_EQ(contents.sweep, record);
  EXPECT_EQ(contents.cells, whole.cells);
  EXPECT_EQ(contents.cohorts, whole.cohorts);
  EXPECT_EQ(contents.trials, whole.trials);
  EXPECT_EQ(store().LoadUnfinished()->size(), 2U);
  EXPECT_EQ(CodeOf(storage::AdmitSweep{Sweep(2), {}}), kNotFound);
  EXPECT_EQ(CodeOf(PartOf(whole, 1, 1)), kAlreadyExists);
}

TEST_P(StoreContract, AStagedSweepThatIsNeverAdmittedIsPurged) {
  const std::string before = Contents();
  ASSERT_TRUE(Commit(PartOf(MakeSweep(2, 5, 2), 1, 4)).ok());
  Reopen();
  EXPECT_EQ(Contents(), before);
  while (store().Purge({}).value()) {
  }
  EXPECT_EQ(CodeOf(storage::AdmitSweep{Sweep(2), {}}), kNotFound);
  EXPECT_EQ(*store().NextSweepId(), SweepId{2});
  EXPECT_TRUE(Commit(MakeSweep(2, 5, 2)).ok()) << "nothing of it is left";
}

TEST_P(StoreContract, NothingButWhatIsStagedIsAdmitted) {
  EXPECT_EQ(CodeOf(storage::AdmitSweep{Sweep(1), {}}), kNotFound);
  EXPECT_EQ(CodeOf(storage::AdmitSweep{Sweep(7), {}}), kNotFound);
  EXPECT_EQ(CodeOf(PartOf(MakeSweep(1, 2, 2), 1, 1)), kAlreadyExists);
}

TEST_P(StoreContract, ASweepIsAddedOnce) {
  EXPECT_EQ(CodeOf(MakeSweep(1, 3, 1)), kAlreadyExists);
  EXPECT_EQ(store().LoadSweep(Sweep(1))->cells.size(), 2U);
}

TEST_P(StoreContract, PartsThatDoNotFitAreRefusedWhole) {
  const std::string before = Contents();
  AddSweep foreign_cell = MakeSweep(2, 2, 2);
  foreign_cell.cells[1].id = Cell(3, 2);
  EXPECT_EQ(CodeOf(foreign_cell), kInvalid);
  AddSweep double_cell = MakeSweep(2, 2, 2);
  double_cell.cells[1].id = Cell(2, 1);
  EXPECT_EQ(CodeOf(double_cell), kInvalid);
  AddSweep no_cohort = MakeSweep(2, 2, 2);
  no_cohort.cohorts.clear();
  EXPECT_EQ(CodeOf(no_cohort), kInvalid);
  AddSweep double_trial = MakeSweep(2, 2, 2);
  double_trial.trials[1].id = double_trial.trials[0].id;
  EXPECT_EQ(CodeOf(double_trial), kInvalid);
  AddSweep double_seed = MakeSweep(2, 2, 2);
  double_seed.trials[1].seed = double_seed.trials[0].seed;
  EXPECT_EQ(CodeOf(double_seed), kInvalid);
  EXPECT_EQ(CodeOf(MakeSweep(0, 1, 1)), kInvalid);
  EXPECT_EQ(Contents(), before);
}

TEST_P(StoreContract, TextComesBackByteForByte) {
  AddSweep odd = MakeSweep(2, 1, 1);
  odd.sweep.name = std::string("zero\0byte \"quoted\" \xf0\x9f\x98\x80\n", 27);
  odd.sweep.source = "bad utf-8: \xff\xfe";
  odd.sweep.parallel_limit = 8;
  odd.sweep.priority = -100;
  odd.cells[0].dataset.vocabulary.reset();
  odd.cells[0].test_floor = 5e-324;
  ASSERT_TRUE(Commit(odd).ok());
  Reopen();
  EXPECT_EQ(store().LoadSweep(Sweep(2))->sweep, odd.sweep);
  EXPECT_EQ(store().LoadSweep(Sweep(2))->cells, odd.cells);
}

TEST_P(StoreContract, NextIdFollowsTheNewest) {
  EXPECT_EQ(store().NextSweepId().value(), Sweep(2));
  ASSERT_TRUE(Commit(MakeSweep(7, 1, 1)).ok());
  EXPECT_EQ(store().NextSweepId().value(), Sweep(8));
}

TEST_P(StoreContract, ASweepMovesFromTheStateItIsIn) {
  using enum SweepState;
  EXPECT_EQ(CodeOf(MoveSweep{Sweep(1), kPaused, kActive}), kFailedPrecondition);
  EXPECT_EQ(CodeOf(MoveSweep{Sweep(9), kActive, kPaused}), kNotFound);
  EXPECT_TRUE(Commit(MoveSweep{Sweep(1), kActive, kComplete}).ok());
  EXPECT_EQ(store().LoadSweep(Sweep(1))->sweep.state, kComplete);
}

TEST_P(StoreContract, EveryTrialMoveIsAcceptedExactlyIfLegal) {
  for (const TrialState from : kTrialStates) {
    for (const TrialState to : kTrialStates) {
      const int64_t number = store().NextSweepId()->value;
      AddSweep add = MakeSweep(number, 1, 1);
      add.trials[0].state = from;
      ASSERT_TRUE(Commit(add).ok());
      const MoveTrial move{Trial(number, 1, 0), from, to, "because"};
      EXPECT_EQ(Commit(move).ok(), IsLegalMove(from, to))
          << Name(from) << " to " << Name(to);
      const auto row = reader().GetTrial(Trial(number, 1, 0));
      EXPECT_EQ(row->trial.state, IsLegalMove(from, to) ? to : from);
      EXPECT_EQ(row->trial.reason, IsLegalMove(from, to) ? "because" : "");
    }
  }
}

TEST_P(StoreContract, ATrialMovesFromTheStateItIsIn) {
  using enum TrialState;
  EXPECT_EQ(CodeOf(MoveTrial{Trial(1, 1, 0), kLeased, kRunning, ""}),
            kFailedPrecondition);
  EXPECT_EQ(CodeOf(MoveTrial{Trial(1, 1, 9), kQueued, kLeased, ""}), kNotFound);
}

TEST_P(StoreContract, OneRefusedChangeTakesBackAllBeforeIt) {
  using enum TrialState;
  const std::string before = Contents();
  const std::vector<Change> changes = {
      MakeSweep(2, 1, 1),
      MoveTrial{Trial(1, 1, 0), kQueued, kLeased, ""},
      test::Start(test::Attempt(1, 1, 1)),
      storage::AddPoints{test::Attempt(1, 1, 1),
                         {{Trial(1, 1, 0), "train_loss", 10, 2.5}}},
      KeepAnswer{"request", "answer", {}},
      MoveTrial{Trial(1, 1, 1), kRunning, kSucceeded, ""}};
  EXPECT_EQ(store().Commit(changes).code(), kFailedPrecondition);
  EXPECT_EQ(Contents(), before);
  EXPECT_EQ(store().FindAnswer("request").value(), std::nullopt);
  Reopen();
  EXPECT_EQ(Contents(), before);
  EXPECT_TRUE(store().Commit(std::span(changes).first(5)).ok())
      << "what was taken back is not in the way";
}

TEST_P(StoreContract, LaterChangesOfACommitSeeEarlierOnes) {
  const std::vector<Change> changes = {
      MakeSweep(2, 1, 1),
      MoveSweep{Sweep(2), SweepState::kActive, SweepState::kCancelled}};
  EXPECT_TRUE(store().Commit(changes).ok());
  EXPECT_EQ(store().LoadSweep(Sweep(2))->sweep.state, SweepState::kCancelled);
}

TEST_P(StoreContract, EmptyCommitIsFine) {
  EXPECT_TRUE(store().Commit({}).ok());
}

TEST_P(StoreContract, UnfinishedAreThoseActiveOrPausedOldestFirst) {
  for (int64_t number = 2; number <= 4; ++number) {
    ASSERT_TRUE(Commit(MakeSweep(number, 1, 1)).ok());
  }
  using enum SweepState;
  ASSERT_TRUE(Commit(MoveSweep{Sweep(2), kActive, kComplete}).ok());
  ASSERT_TRUE(Commit(MoveSweep{Sweep(3), kActive, kPaused}).ok());
  const auto unfinished = store().LoadUnfinished().value();
  ASSERT_EQ(unfinished.size(), 3U);
  EXPECT_EQ(unfinished[0].sweep.id, Sweep(1));
  EXPECT_EQ(unfinished[1].sweep.id, Sweep(3));
  EXPECT_EQ(unfinished[2].sweep.id, Sweep(4));
}

TEST_P(StoreContract, ContentsAreTheSameAfterReopening) {
  RunFirstCell();
  const auto attempt = test::Attempt(1, 1, 1);
  ASSERT_TRUE(test::Succeed(store(), Trial(1, 1, 0), attempt, 1.5).ok());
  ASSERT_TRUE(Commit(storage::Acknowledge{attempt, 17}).ok());
  const auto unfinished = store().LoadUnfinished().value();
  const std::string before = Contents();
  Reopen();
  EXPECT_EQ(store().LoadUnfinished().value(), unfinished);
  EXPECT_EQ(Contents(), before);
}

TEST_P(StoreContract, EqualSweepIsTheNewestOfNameAndHash) {
  AddSweep again = MakeSweep(2, 1, 1);
  again.sweep.canonical_hash = "hash1";
  ASSERT_TRUE(Commit(again).ok());
  EXPECT_EQ(store().FindEqualSweep("depth study", "hash1").value(), Sweep(2));
  EXPECT_EQ(store().FindEqualSweep("depth", "hash1").value(), std::nullopt);
  EXPECT_EQ(store().FindEqualSweep("depth study", "x").value(), std::nullopt);
}

TEST_P(StoreContract, AnAnswerIsKeptOnceAndNeverReplaced) {
  const std::string binary("\x08\0\xff answer", 10);
  EXPECT_EQ(store().FindAnswer("r1").value(), std::nullopt);
  EXPECT_TRUE(Commit(KeepAnswer{"r1", binary, {}}).ok());
  EXPECT_TRUE(Commit(KeepAnswer{"r1", binary, {}}).ok());
  EXPECT_EQ(CodeOf(KeepAnswer{"r1", "another", {}}), kAlreadyExists);
  Reopen();
  EXPECT_EQ(store().FindAnswer("r1").value(), binary);
}

}  // namespace
}  // namespace leadline
