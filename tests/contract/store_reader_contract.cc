#include "tests/contract/store_contract.h"

namespace leadline {
namespace {

using storage::CellValues;
using storage::MoveTrial;
using storage::SeedValue;
using storage::SweepRow;
using storage::TrialRow;
using test::Attempt;
using test::Cell;
using test::MakeSweep;
using test::Sweep;
using test::Trial;

constexpr auto kNotFound = absl::StatusCode::kNotFound;

TEST_P(StoreContract, SweepsAreListedNewestFirstInPages) {
  for (int64_t number = 2; number <= 5; ++number) {
    ASSERT_TRUE(Commit(MakeSweep(number, 1, 1)).ok());
  }
  EXPECT_EQ(reader().CountSweeps().value(), 5);
  const auto first = reader().ListSweeps(std::nullopt, 2).value();
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].sweep.id, Sweep(5));
  EXPECT_EQ(first[1].sweep.id, Sweep(4));
  const auto rest = reader().ListSweeps(Sweep(4), 100).value();
  ASSERT_EQ(rest.size(), 3U);
  EXPECT_EQ(rest[2].sweep.id, Sweep(1));
}

TEST_P(StoreContract, ASweepCountsItsTrialsByState) {
  RunFirstCell();
  ASSERT_TRUE(
      test::Succeed(store(), Trial(1, 1, 0), Attempt(1, 1, 1), 1.5).ok());
  ASSERT_TRUE(Commit(MoveTrial{Trial(1, 2, 0), TrialState::kQueued,
                               TrialState::kCancelled, ""})
                  .ok());
  const SweepRow row = reader().GetSweep(Sweep(1)).value();
  EXPECT_EQ(row.cells, 2);
  const auto count = [&](TrialState state) {
    return row.trials[static_cast<size_t>(state)];
  };
  EXPECT_EQ(count(TrialState::kQueued), 1);
  EXPECT_EQ(count(TrialState::kRunning), 1);
  EXPECT_EQ(count(TrialState::kSucceeded), 1);
  EXPECT_EQ(count(TrialState::kCancelled), 1);
  EXPECT_EQ(count(TrialState::kFailed), 0);
  EXPECT_EQ(reader().GetSweep(Sweep(2)).status().code(), kNotFound);
}

TEST_P(StoreContract, SweepsAreFoundByThePrefixOfTheirName) {
  const std::vector<std::string> names = {
      "depth", "depth study 2", "width", "d\xc3\xa9pth", "DEPTH", "dep%"};
  for (size_t i = 0; i < names.size(); ++i) {
    storage::AddSweep add = MakeSweep(static_cast<int64_t>(i) + 2, 1, 1);
    add.sweep.name = names[i];
    ASSERT_TRUE(Commit(add).ok());
  }
  const auto ids = [&](const std::string& prefix, int64_t limit) {
    std::vector<int64_t> found;
    const auto sweeps = reader().FindByName(prefix, limit);
    for (const auto& sweep : sweeps.value()) {
      found.push_back(sweep.id.value);
    }
    return found;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(ids("depth", 10), ElementsAre(3, 2, 1));
  EXPECT_THAT(ids("depth s", 10), ElementsAre(3, 1));
  EXPECT_THAT(ids("depth", 1), ElementsAre(3));
  EXPECT_THAT(ids("dep%", 10), ElementsAre(7));
  EXPECT_THAT(ids("d\xc3\xa9", 10), ElementsAre(5));
  EXPECT_THAT(ids("x", 10), ElementsAre());
}

TEST_P(StoreContract, CellsShowTheValuesOfSucceededTrialsOnly) {
  ASSERT_TRUE(Commit(MakeSweep(2, 2, 4)).ok());
  const AttemptKey attempt = Attempt(2, 1, 1);
  ASSERT_TRUE(test::Run(store(), attempt,
                        {Trial(2, 1, 0), Trial(2, 1, 1), Trial(2, 1, 2),
                         Trial(2, 1, 3)})
                  .ok());
  ASSERT_TRUE(test::Succeed(store(), Trial(2, 1, 0), attempt, 1.5).ok());
  ASSERT_TRUE(test::Succeed(store(), Trial(2, 1, 3), attempt, 2.5).ok());
  // A result alone does not count: the trial has not ended with it.
  ASSERT_TRUE(
      Commit(storage::AddResult{test::MakeResult(Trial(2, 1, 2), attempt, 9.0)})
          .ok());
  ASSERT_TRUE(Commit(MoveTrial{Trial(2, 1, 1), TrialState::kRunning,
                               TrialState::kDiverged, "loss is nan"})
                  .ok());
  ASSERT_TRUE(Commit(MoveTrial{Trial(2, 1, 2), TrialState::kRunning,
                               TrialState::kFailed, ""})
                  .ok());
  const auto cells = reader().ListCells(Sweep(2), "validation_loss", 0, 10);
  ASSERT_EQ(cells->size(), 2U);
  const CellValues& cell = cells->at(0);
  EXPECT_EQ(cell.planned, 4);
  EXPECT_EQ(cell.diverged, 1);
  EXPECT_EQ(cell.failed, 1);
  ASSERT_EQ(cell.values.size(), 2U);
  EXPECT_EQ(cell.values[0].trial, Trial(2, 1, 0));
  EXPECT_EQ(cell.values[0].value, 1.5);
  EXPECT_EQ(cell.values[1].seed, 30);
  EXPECT_EQ(cells->at(1).values.size(), 0U);
  EXPECT_EQ(cells->at(1).planned, 4);
  const auto test = reader().ListCells(Sweep(2), "test_loss", 0, 1);
  EXPECT_EQ(test->at(0).values.at(0).value, 2.0);
  const auto best = reader().ListCells(Sweep(2), "best_validation_loss", 0, 1);
  EXPECT_EQ(best->at(0).values.at(0).value, 1.25);
}

TEST_P(StoreContract, CellsArePaged) {
  ASSERT_TRUE(Commit(MakeSweep(2, 5, 1)).ok());
  const auto page = reader().ListCells(Sweep(2), "validation_loss", 2, 2);
  ASSERT_EQ(page->size(), 2U);
  EXPECT_EQ(page->at(0).cell.id, Cell(2, 3));
  EXPECT_EQ(page->at(1).cell.id, Cell(2, 4));
  EXPECT_EQ(page->at(1).cell, MakeSweep(2, 5, 1).cells[3]);
  EXPECT_TRUE(reader().ListCells(Sweep(2), "test_loss", 5, 2)->empty());
}

TEST_P(StoreContract, UnknownMetricAndSweepAreToldApart) {
  const auto metric = reader().ListCells(Sweep(1), "accuracy", 0, 1).status();
  EXPECT_EQ(metric.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(metric.message()),
              ::testing::HasSubstr("best_validation_loss"));
  EXPECT_EQ(reader().ListCells(Sweep(9), "test_loss", 0, 1).status().code(),
            kNotFound);
}

TEST_P(StoreContract, TrialsArePagedThroughSweepAndCell) {
  ASSERT_TRUE(Commit(MakeSweep(2, 12, 3)).ok());
  std::vector<TrialId> seen;
  std::optional<TrialId> after;
  for (;;) {
    const auto page = reader().ListTrials(Sweep(2), std::nullopt, after, 5);
    if (page->empty()) break;
    for (const TrialRow& row : *page) seen.push_back(row.trial.id);
    after = seen.back();
  }
  EXPECT_EQ(seen.size(), 36U);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  const auto cell = reader().ListTrials(Sweep(2), Cell(2, 11), {}, 100);
  ASSERT_EQ(cell->size(), 3U);
  EXPECT_EQ(cell->at(2).trial.id, Trial(2, 11, 2));
  EXPECT_EQ(cell->at(2).cell, MakeSweep(2, 12, 3).cells[10]);
  EXPECT_EQ(
      reader().ListTrials(Sweep(2), Cell(2, 11), Trial(2, 11, 0), 9)->size(),
      2U);
  EXPECT_EQ(
      reader().ListTrials(Sweep(2), Cell(2, 11), Trial(2, 3, 0), 9)->size(),
      3U);
  EXPECT_TRUE(
      reader().ListTrials(Sweep(2), Cell(2, 11), Trial(2, 12, 0), 9)->empty());
  EXPECT_EQ(reader().ListTrials(Sweep(2), {}, Trial(1, 1, 0), 99)->size(), 36U);
  EXPECT_TRUE(reader().ListTrials(Sweep(2), {}, Trial(3, 1, 0), 99)->empty());
}

TEST_P(StoreContract, TrialsOfUnknownThingsAreNotFound) {
  EXPECT_EQ(reader().ListTrials(Sweep(9), {}, {}, 1).status().code(),
            kNotFound);
  EXPECT_EQ(reader().ListTrials(Sweep(1), Cell(1, 9), {}, 1).status().code(),
            kNotFound);
  EXPECT_EQ(reader().ListTrials(Sweep(1), Cell(2, 1), {}, 1).status().code(),
            kNotFound);
  EXPECT_EQ(reader().GetTrial(Trial(1, 1, 9)).status().code(), kNotFound);
  EXPECT_TRUE(reader().CohortTrials(test::Cohort(7, 1))->empty());
  EXPECT_TRUE(reader().ListAttempts(test::Cohort(7, 1))->empty());
}

TEST_P(StoreContract, ATrialShowsItsAttemptsAndLoss) {
  RunFirstCell();
  EXPECT_EQ(reader().GetTrial(Trial(1, 1, 0))->validation_loss, std::nullopt);
  ASSERT_TRUE(
      test::Succeed(store(), Trial(1, 1, 0), Attempt(1, 1, 1), 1.5).ok());
  const TrialRow row = reader().GetTrial(Trial(1, 1, 0)).value();
  EXPECT_EQ(row.attempts, 1);
  EXPECT_EQ(row.validation_loss, 1.5);
  EXPECT_EQ(row.trial.state, TrialState::kSucceeded);
  EXPECT_EQ(reader().GetTrial(Trial(1, 2, 0))->attempts, 0);
}

TEST_P(StoreContract, CohortTrialsAreThoseOfTheCohortAlone) {
  storage::AddSweep add = MakeSweep(2, 1, 4);
  const CohortId second{Cell(2, 1), 1};
  add.cohorts.push_back({.id = second});
  add.trials[1].cohort = second;
  add.trials[3].cohort = second;
  ASSERT_TRUE(Commit(add).ok());
  const auto trials = reader().CohortTrials(second).value();
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[0], add.trials[1]);
  EXPECT_EQ(trials[1], add.trials[3]);
}

}  // namespace
}  // namespace leadline
