// What failed, ended or came too late.

#include "tests/contract/store_contract.h"

namespace leadline {
namespace {

using storage::EndAttempt;
using storage::EndedGroup;
using storage::FailureCount;
using storage::KeepOrphan;
using storage::MoveTrial;
using storage::OrphanCount;
using storage::SweepRow;
using storage::TrialRow;
using test::Attempt;
using test::Cell;
using test::Cohort;
using test::MakeSweep;
using test::Start;
using test::Sweep;
using test::Trial;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using enum FailureKind;

std::vector<TrialId> Ids(const absl::StatusOr<std::vector<TrialRow>>& rows) {
  std::vector<TrialId> ids;
  for (const TrialRow& row : rows.value()) ids.push_back(row.trial.id);
  return ids;
}

TEST_P(StoreContract, FailuresAreCountedByKindWithTheTrialsTheyHeld) {
  EXPECT_THAT(reader().CountFailures(Sweep(1)).value(), IsEmpty());
  FailNext(1, 1, 1, kOom);
  FailNext(1, 1, 2, kCrash);
  FailNext(1, 2, 1, kCrash);
  FailNext(1, 2, 2, kCrash);
  Reopen();
  EXPECT_THAT(
      reader().CountFailures(Sweep(1)).value(),
      ElementsAre(FailureCount{kOom, 1, 2}, FailureCount{kCrash, 3, 4}));
  EXPECT_THAT(reader().CountFailures(Sweep(9)).value(), IsEmpty());
}

TEST_P(StoreContract, ATrialTellsTheKindOfItsNewestFailure) {
  EXPECT_EQ(reader().GetTrial(Trial(1, 1, 0))->failed_kind, std::nullopt);
  FailNext(1, 1, 1, kOom);
  FailNext(1, 1, 2, kDevice);
  ASSERT_TRUE(Commit(Start(Attempt(1, 1, 3))).ok());
  EXPECT_EQ(reader().GetTrial(Trial(1, 1, 0))->failed_kind, kDevice);
  const auto rows = reader().ListTrials(Sweep(1), Cell(1, 1), {}, 10).value();
  EXPECT_EQ(rows.at(1).failed_kind, kDevice);
}

TEST_P(StoreContract, TrialsAreFoundByAFailureOfTheirs) {
  ASSERT_TRUE(Commit(MakeSweep(2, 3, 2)).ok());
  FailNext(2, 1, 1, kOom);
  FailNext(2, 1, 2, kCrash);
  FailNext(2, 3, 1, kOom);
  EXPECT_THAT(Ids(reader().ListTrialsFailed(kOom, Sweep(2), {}, {}, 3)),
              ElementsAre(Trial(2, 1, 0), Trial(2, 1, 1), Trial(2, 3, 0)));
  EXPECT_THAT(
      Ids(reader().ListTrialsFailed(kOom, Sweep(2), {}, Trial(2, 3, 0), 3)),
      ElementsAre(Trial(2, 3, 1)));
  EXPECT_THAT(
      Ids(reader().ListTrialsFailed(kCrash, Sweep(2), Cell(2, 3), {}, 9)),
      IsEmpty());
  EXPECT_EQ(reader().CountTrialsFailed(kOom, Sweep(2), {}).value(), 4);
  EXPECT_EQ(reader().CountTrialsFailed(kOom, Sweep(2), Cell(2, 3)).value(), 2);
  EXPECT_EQ(reader().CountTrialsFailed(kHang, Sweep(2), {}).value(), 0);
  for (const absl::Status& status :
       {reader().ListTrialsFailed(kOom, Sweep(9), {}, {}, 1).status(),
        reader().ListTrialsFailed(kOom, Sweep(1), Cell(2, 1), {}, 1).status(),
        reader().CountTrialsFailed(kOom, Sweep(9), {}).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  }
}

TEST_P(StoreContract, SweepsAreFoundByAFailureOfTheirs) {
  for (const int64_t number : {2, 3, 4}) {
    ASSERT_TRUE(Commit(MakeSweep(number, 1, 1)).ok());
  }
  FailNext(2, 1, 1, kDisk);
  FailNext(2, 1, 2, kDisk);
  FailNext(4, 1, 1, kDisk);
  const auto ids = [&](std::optional<SweepId> before, int64_t limit) {
    std::vector<SweepId> found;
    const auto rows =
        reader().FindSweeps({.failed_kind = kDisk}, before, limit);
    for (const SweepRow& row : rows.value()) found.push_back(row.sweep.id);
    return found;
  };
  EXPECT_THAT(ids({}, 10), ElementsAre(Sweep(4), Sweep(2)));
  EXPECT_THAT(ids({}, 1), ElementsAre(Sweep(4)));
  EXPECT_THAT(ids(Sweep(4), 10), ElementsAre(Sweep(2)));
  EXPECT_EQ(reader().CountSweeps({.failed_kind = kDisk}).value(), 2);
  EXPECT_EQ(reader().CountSweeps({.failed_kind = kConfig}).value(), 0);
}

TEST_P(StoreContract, EndsAreGroupedByReasonTheLargestFirst) {
  ASSERT_TRUE(Commit(MakeSweep(2, 3, 2)).ok());
  CancelQueued(Trial(2, 1, 0), "by command");
  CancelQueued(Trial(2, 2, 0), "limit \"quoted\"");
  CancelQueued(Trial(2, 2, 1), "limit \"quoted\"");
  FailNext(2, 3, 1, kCrash);
  CancelQueued(Trial(2, 3, 0), "by command");
  using enum TrialState;
  const EndedGroup limit{kCancelled, "limit \"quoted\"", false, 2,
                         Trial(2, 2, 0)};
  EXPECT_THAT(
      reader().ListEnded(Sweep(2), 10).value(),
      ElementsAre(
          limit, EndedGroup{kCancelled, "by command", false, 1, Trial(2, 1, 0)},
          EndedGroup{kCancelled, "by command", true, 1, Trial(2, 3, 0)}));
  EXPECT_THAT(reader().ListEnded(Sweep(2), 1).value(), ElementsAre(limit));
  EXPECT_THAT(reader().ListEnded(Sweep(1), 10).value(), IsEmpty());
}

TEST_P(StoreContract, ASweepTellsWhatWasCancelledBeforeItBegan) {
  CancelQueued(Trial(1, 1, 0), "");
  FailNext(1, 2, 1, kCrash);
  CancelQueued(Trial(1, 2, 0), "");
  EXPECT_EQ(reader().GetSweep(Sweep(1))->never_began, 1);
  EXPECT_EQ(reader().ListSweeps({}, 1)->at(0).never_began, 1);
}

TEST_P(StoreContract, OrphansAreCountedByAttemptAndSweep) {
  RunFirstCell();
  const AttemptKey old = Attempt(1, 1, 1);
  EXPECT_EQ(reader().SweepOrphans(Sweep(1)).value(), (OrphanCount{0, 0}));
  EXPECT_THAT(reader().CohortOrphans(Cohort(1, 1)).value(), IsEmpty());
  ASSERT_TRUE(Commit(KeepOrphan{{old, 7, "late"}}).ok());
  ASSERT_TRUE(Commit(KeepOrphan{{old, 8, "later"}}).ok());
  ASSERT_TRUE(Commit(Start(Attempt(1, 2, 1))).ok());
  ASSERT_TRUE(Commit(KeepOrphan{{Attempt(1, 2, 1), 1, "other"}}).ok());
  EXPECT_THAT(reader().CohortOrphans(Cohort(1, 1)).value(),
              ElementsAre(std::pair<const int64_t, int64_t>(1, 2)));
  EXPECT_EQ(reader().SweepOrphans(Sweep(1)).value(), (OrphanCount{2, 3}));
  EXPECT_EQ(reader().SweepOrphans(Sweep(2)).value(), (OrphanCount{0, 0}));
}

}  // namespace
}  // namespace leadline
