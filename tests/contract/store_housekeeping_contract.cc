#include "tests/contract/store_contract.h"

namespace leadline {
namespace {

using storage::AddPoints;
using storage::AddWindows;
using storage::DescribeSweep;
using storage::DropMeasurements;
using storage::MoveSweep;
using storage::MoveTrial;
using storage::RemoveSweep;
using storage::SweepFilter;
using storage::WallTime;
using test::MakeSweep;
using test::Sweep;
using test::Trial;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;
const WallTime kThen{std::chrono::seconds(1'790'000'000)};

class Housekeeping : public StoreContract {
 protected:
  /// s1 has measured something everywhere, one result, and has ended.
  void EndSweep() {
    RunFirstCell();
    const AttemptKey attempt = test::Attempt(1, 1, 1);
    for (const int64_t seed : {0, 1}) {
      AddPoints points{attempt, {}};
      for (int64_t step = 1; step <= 50; ++step) {
        points.points.push_back({Trial(1, 1, seed), "train_loss", step, 0.5});
      }
      ASSERT_TRUE(Commit(points).ok());
      ASSERT_TRUE(
          Commit(
              AddWindows{attempt, {Trial(1, 1, seed), 5, "validation", {1.0}}})
              .ok());
      ASSERT_TRUE(
          test::Succeed(store(), Trial(1, 1, seed), attempt, 1.0 + seed).ok());
    }
    ASSERT_TRUE(Commit(storage::EndAttempt{
                           attempt, AttemptOutcome::kSucceeded, {}, "", {}})
                    .ok());
    ASSERT_TRUE(Commit(storage::KeepOrphan{{attempt, 99, "{}"}}).ok());
    CancelQueued(Trial(1, 2, 0), "by command");
    CancelQueued(Trial(1, 2, 1), "by command");
    ASSERT_TRUE(
        Commit(MoveSweep{Sweep(1), SweepState::kActive, SweepState::kCancelled})
            .ok());
  }

  void PurgeAll(int64_t most_rows) {
    storage::PurgeLimits limits;
    limits.most_rows = most_rows;
    for (int i = 0; i < 10'000; ++i) {
      const auto more = store().Purge(limits);
      ASSERT_TRUE(more.ok()) << more.status();
      if (!*more) return;
    }
    FAIL() << "removal does not end";
  }

  std::vector<int64_t> Found(const SweepFilter& filter) {
    std::vector<int64_t> found;
    const auto rows = reader().FindSweeps(filter, {}, 100);
    for (const auto& row : rows.value()) {
      found.push_back(row.sweep.id.value);
    }
    EXPECT_EQ(reader().CountSweeps(filter).value(), std::ssize(found));
    return found;
  }
};

TEST_P(Housekeeping, NotesTagsAndTheArchiveLast) {
  EndSweep();
  const std::string hostile = "\x1b[2J'; DROP TABLE sweep; -- \xf0\x9f\x98\x80";
  ASSERT_TRUE(Commit(DescribeSweep{
                         Sweep(1), kThen, hostile, {"a", "\xc3\xa9t\xc3\xa9"}})
                  .ok());
  Reopen();
  const auto record = store().FindSweep(Sweep(1)).value().value();
  EXPECT_EQ(record.archived_at, kThen);
  EXPECT_EQ(record.note, hostile);
  EXPECT_THAT(record.tags, ElementsAre("a", "\xc3\xa9t\xc3\xa9"));
  EXPECT_EQ(reader().GetSweep(Sweep(1))->sweep, record);
  ASSERT_TRUE(Commit(DescribeSweep{Sweep(1), {}, "", {}}).ok());
  EXPECT_EQ(store().FindSweep(Sweep(1)).value()->archived_at, std::nullopt);
}

TEST_P(Housekeeping, WhatCannotBeSaidOfASweepIsRefused) {
  EXPECT_EQ(CodeOf(DescribeSweep{Sweep(1), kThen, "", {}}),
            kFailedPrecondition);
  EXPECT_EQ(CodeOf(DescribeSweep{Sweep(1), {}, "", {"b", "a"}}), kInvalid);
  EXPECT_EQ(CodeOf(DescribeSweep{Sweep(1), {}, "", {"a", "a"}}), kInvalid);
  EXPECT_EQ(CodeOf(DescribeSweep{Sweep(9), {}, "", {}}), kNotFound);
  EXPECT_EQ(store().FindSweep(Sweep(9)).value(), std::nullopt);
}

TEST_P(Housekeeping, SweepsAreFoundByWhatIsKnownOfThem) {
  using enum SweepFilter::Archived;
  EndSweep();
  storage::AddSweep second = MakeSweep(2, 1, 1);
  second.sweep.user = "emmy";
  second.sweep.name = "50% wav_study";
  second.sweep.submitted_at = kThen;
  ASSERT_TRUE(Commit(second).ok());
  ASSERT_TRUE(Commit(DescribeSweep{Sweep(1), kThen, "", {"a", "b"}}).ok());
  EXPECT_THAT(Found({}), ElementsAre(2));
  EXPECT_THAT(Found({.archived = kToo}), ElementsAre(2, 1));
  EXPECT_THAT(Found({.archived = kAlone}), ElementsAre(1));
  EXPECT_THAT(Found({.tags = {"b"}, .archived = kToo}), ElementsAre(1));
  EXPECT_THAT(Found({.tags = {"a", "c"}, .archived = kToo}), IsEmpty());
  EXPECT_THAT(Found({.user = "emmy"}), ElementsAre(2));
  EXPECT_THAT(Found({.user = "em"}), IsEmpty());
  EXPECT_THAT(Found({.name = "% wav_"}), ElementsAre(2));
  EXPECT_THAT(Found({.name = "%study", .archived = kToo}), IsEmpty());
  EXPECT_THAT(Found({.since = kThen}), ElementsAre(2));
  EXPECT_THAT(Found({.states = {SweepState::kCancelled}, .archived = kToo}),
              ElementsAre(1));
  EXPECT_THAT(Found({.states = {SweepState::kPaused}, .archived = kToo}),
              IsEmpty());
  const auto older = reader().FindSweeps({.archived = kToo}, Sweep(2), 100);
  ASSERT_EQ(older->size(), 1U);
}

TEST_P(Housekeeping, ARemovedSweepIsGoneAtOnceAndItsNumberForEver) {
  EndSweep();
  ASSERT_TRUE(Commit(RemoveSweep{Sweep(1), kThen}).ok());
  EXPECT_EQ(reader().GetSweep(Sweep(1)).status().code(), kNotFound);
  EXPECT_EQ(reader().GetTrial(Trial(1, 1, 0)).status().code(), kNotFound);
  EXPECT_EQ(
      reader().ListCells(Sweep(1), "validation_loss", 0, 9).status().code(),
      kNotFound);
  EXPECT_EQ(reader().ListTrials(Sweep(1), {}, {}, 9).status().code(),
            kNotFound);
  EXPECT_EQ(
      reader().ListTrials(Sweep(1), test::Cell(1, 1), {}, 9).status().code(),
      kNotFound);
  EXPECT_THAT(reader().FindByName("depth", 9).value(), IsEmpty());
  EXPECT_EQ(reader().CountSweeps().value(), 0);
  EXPECT_THAT(Found({.archived = SweepFilter::Archived::kToo}), IsEmpty());
  EXPECT_EQ(store().LoadSweep(Sweep(1)).status().code(), kNotFound);
  EXPECT_EQ(store().FindEqualSweep("depth study", "hash1").value(),
            std::nullopt);
  EXPECT_EQ(CodeOf(RemoveSweep{Sweep(1), kThen}), kNotFound);
  EXPECT_EQ(store().NextSweepId().value(), Sweep(2));
  const std::vector<SweepId> asked = {Sweep(9), Sweep(2), Sweep(1), Sweep(1)};
  EXPECT_THAT(reader().RemovedAmong(asked).value(), ElementsAre(Sweep(1)));
  EXPECT_THAT(reader().RemovedAmong({}).value(), IsEmpty());
  PurgeAll(7);
  EXPECT_THAT(reader().RemovedAmong(asked).value(), ElementsAre(Sweep(1)));
  EXPECT_EQ(store().NextSweepId().value(), Sweep(2));
  Reopen();
  EXPECT_EQ(store().NextSweepId().value(), Sweep(2));
  EXPECT_EQ(reader().CountContents(Sweep(1)).value(), storage::Contents{});
}

TEST_P(Housekeeping, ASweepThatIsThereWasNotRemoved) {
  EndSweep();
  EXPECT_THAT(reader().RemovedAmong({Sweep(1), Sweep(2)}).value(), IsEmpty());
}

TEST_P(Housekeeping, WhatWasRemovedLeavesTheRestAsItWas) {
  ASSERT_TRUE(Commit(MakeSweep(2, 2, 2)).ok());
  const AttemptKey attempt = test::Attempt(2, 1, 1);
  ASSERT_TRUE(test::Run(store(), attempt, {Trial(2, 1, 0)}).ok());
  ASSERT_TRUE(
      Commit(AddPoints{attempt, {{Trial(2, 1, 0), "train_loss", 1, 0.5}}})
          .ok());
  EndSweep();
  ASSERT_TRUE(Commit(RemoveSweep{Sweep(1), kThen}).ok());
  const std::string at_once = Contents();
  PurgeAll(11);
  EXPECT_EQ(Contents(), at_once);
  // The attempt that runs goes on.
  EXPECT_TRUE(
      Commit(AddPoints{attempt, {{Trial(2, 1, 0), "train_loss", 2, 0.5}}})
          .ok());
}

TEST_P(Housekeeping, WhatHasNotEndedIsNotRemoved) {
  RunFirstCell();
  EXPECT_EQ(CodeOf(RemoveSweep{Sweep(1), kThen}), kFailedPrecondition);
  EXPECT_EQ(CodeOf(DropMeasurements{Trial(1, 1, 0)}), kFailedPrecondition);
  EXPECT_EQ(CodeOf(DropMeasurements{Trial(1, 9, 0)}), kNotFound);
}

TEST_P(Housekeeping, DroppedMeasurementsLeaveTheResult) {
  EndSweep();
  EXPECT_EQ(reader().CountContents(Trial(1, 1, 0))->points, 50);
  ASSERT_TRUE(Commit(DropMeasurements{Trial(1, 1, 0)}).ok());
  PurgeAll(7);
  EXPECT_EQ(reader().CountContents(Trial(1, 1, 0))->points, 0);
  EXPECT_EQ(reader().CountContents(Trial(1, 1, 1))->points, 50);
  EXPECT_THAT(reader().Curve(Trial(1, 1, 0), "train_loss", -1, 9).value(),
              IsEmpty());
  EXPECT_EQ(reader()
                .FindWindows(Trial(1, 1, 0), "validation", {})
                .value()
                .has_value(),
            false);
  EXPECT_EQ(reader().FindResult(Trial(1, 1, 0)).value()->validation_loss, 1.0);
}

TEST_P(Housekeeping, ARemovalThatIsTakenBackLeavesAll) {
  EndSweep();
  const std::string before = Contents();
  const std::vector<storage::Change> changes = {
      RemoveSweep{Sweep(1), kThen},
      MoveTrial{Trial(7, 1, 0), TrialState::kQueued, TrialState::kLeased, ""}};
  EXPECT_FALSE(store().Commit(changes).ok());
  EXPECT_EQ(Contents(), before);
}

TEST_P(Housekeeping, HowMuchASweepHoldsIsCounted) {
  EndSweep();
  const auto contents = reader().CountContents(Sweep(1)).value();
  EXPECT_EQ(contents.trials, 4);
  EXPECT_EQ(contents.attempts, 1);
  EXPECT_EQ(contents.points, 100);
  EXPECT_THAT(contents.nodes, ElementsAre("node-a"));
}

storage::StorePair OpenSqlite(const std::filesystem::path& folder) {
  auto pair = storage::OpenSqliteStore(folder / "leadline.db");
  EXPECT_TRUE(pair.ok()) << pair.status();
  return pair.ok() ? *std::move(pair) : storage::StorePair();
}

storage::StorePair OpenMemory(const std::filesystem::path&) {
  return storage::MakeMemoryStore();
}

INSTANTIATE_TEST_SUITE_P(
    Stores, Housekeeping,
    ::testing::Values(StoreKind{"Memory", OpenMemory, false},
                      StoreKind{"Sqlite", OpenSqlite, true}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace leadline
