#include "tests/contract/store_contract.h"

namespace leadline {
namespace {

using storage::BeginErrand;
using storage::EndErrand;
using storage::ErrandKind;
using storage::ErrandRecord;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;
constexpr auto kThere = absl::StatusCode::kAlreadyExists;

constexpr ErrandRecord kCancel{{1}, std::nullopt, ErrandKind::kCancel};
constexpr ErrandRecord kOfACell{{1}, 2, ErrandKind::kCancel};
constexpr ErrandRecord kRetry{{1}, std::nullopt, ErrandKind::kRetry, true};
constexpr ErrandRecord kStop{{1}, std::nullopt, ErrandKind::kStop};

TEST_P(StoreContract, ErrandsComeBackInTheirOrderUntilTheyAreDone) {
  for (const ErrandRecord& errand : {kStop, kRetry, kOfACell, kCancel}) {
    ASSERT_TRUE(Commit(BeginErrand{errand}).ok());
  }
  Reopen();
  EXPECT_THAT(store().LoadSweep({1})->errands,
              ElementsAre(kStop, kRetry, kOfACell, kCancel));
  EXPECT_THAT(store().LoadUnfinished()->at(0).errands, SizeIs(4));
  ASSERT_TRUE(Commit(EndErrand{kRetry}).ok());
  Reopen();
  EXPECT_THAT(store().LoadSweep({1})->errands,
              ElementsAre(kStop, kOfACell, kCancel));
  ASSERT_TRUE(Commit(BeginErrand{kRetry}).ok());
  EXPECT_THAT(store().LoadSweep({1})->errands,
              ElementsAre(kStop, kOfACell, kCancel, kRetry));
}

TEST_P(StoreContract, ErrandIsThereOnceAndEndsOnce) {
  EXPECT_EQ(CodeOf(EndErrand{kCancel}), kNotFound);
  ASSERT_TRUE(Commit(BeginErrand{kCancel}).ok());
  EXPECT_EQ(CodeOf(BeginErrand{kCancel}), kThere);
  EXPECT_EQ(CodeOf(EndErrand{kOfACell}), kNotFound);
  ASSERT_TRUE(Commit(EndErrand{kCancel}).ok());
  EXPECT_EQ(CodeOf(EndErrand{kCancel}), kNotFound);
}

TEST_P(StoreContract, ErrandIsOfASweepThatIsThereAndMakesSense) {
  ErrandRecord errand = kCancel;
  errand.sweep = {9};
  EXPECT_EQ(CodeOf(BeginErrand{errand}), kNotFound);
  errand = kCancel;
  errand.cell = 0;
  EXPECT_EQ(CodeOf(BeginErrand{errand}), kInvalid);
  errand = kRetry;
  errand.failed = false;
  EXPECT_EQ(CodeOf(BeginErrand{errand}), kInvalid);
  errand = kStop;
  errand.cancelled = true;
  EXPECT_EQ(CodeOf(BeginErrand{errand}), kInvalid);
}

TEST_P(StoreContract, ErrandGoesWithItsSweep) {
  ASSERT_TRUE(Commit(BeginErrand{kCancel}).ok());
  ASSERT_TRUE(Commit(storage::MoveSweep{
                         {1}, SweepState::kActive, SweepState::kCancelled})
                  .ok());
  ASSERT_TRUE(Commit(storage::RemoveSweep{{1}, {}}).ok());
  EXPECT_EQ(CodeOf(EndErrand{kCancel}), kNotFound);
  EXPECT_EQ(CodeOf(BeginErrand{kCancel}), kNotFound);
}

TEST_P(StoreContract, SomeCellsAreReadWithAllOfTheirParts) {
  ASSERT_TRUE(Commit(test::MakeSweep(2, 5, 2)).ok());
  const storage::SweepContents whole = *store().LoadSweep({2});
  storage::SweepContents parts = *store().LoadCells({2}, 1, 2);
  EXPECT_THAT(parts.cells, SizeIs(2));
  for (const int64_t first : {3, 5, 7}) {
    const storage::SweepContents part = *store().LoadCells({2}, first, 2);
    EXPECT_EQ(part.sweep, whole.sweep);
    for (const auto& cell : part.cells) parts.cells.push_back(cell);
    for (const auto& cohort : part.cohorts) parts.cohorts.push_back(cohort);
    for (const auto& trial : part.trials) parts.trials.push_back(trial);
  }
  EXPECT_EQ(parts, whole);
  EXPECT_THAT(store().LoadCells({2}, 6, 9)->cells, IsEmpty());
  EXPECT_EQ(store().LoadCells({9}, 1, 1).status().code(), kNotFound);
}

TEST_P(StoreContract, AttemptsAreReadWithTheirCells) {
  RunFirstCell();
  EXPECT_THAT(store().LoadCells({1}, 1, 1)->live, SizeIs(1));
  EXPECT_THAT(store().LoadCells({1}, 2, 1)->live, IsEmpty());
  ASSERT_TRUE(
      Commit(
          storage::EndAttempt{
              test::Attempt(1, 1, 1), AttemptOutcome::kCancelled, {}, "", {}})
          .ok());
  EXPECT_THAT(store().LoadCells({1}, 1, 1)->cancelled, SizeIs(1));
  EXPECT_THAT(store().LoadCells({1}, 2, 1)->cancelled, IsEmpty());
}

}  // namespace
}  // namespace leadline
