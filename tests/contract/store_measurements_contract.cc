#include <bit>
#include <cmath>
#include <limits>

#include "tests/contract/store_contract.h"

namespace leadline {
namespace {

using storage::AddPoints;
using storage::AddResult;
using storage::AddRouting;
using storage::AddWindows;
using storage::Point;
using storage::RoutingRecord;
using test::Attempt;
using test::MakeResult;
using test::Trial;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

const std::vector<double> kSpecial = {
    kNan,     kInf, -kInf, 5e-324, 2.2e-308,          1e308, -1e308, 0.1,
    -1.0 / 3, 3.0,  0.0,   1e15,   9007199254740993.0};

TEST_P(StoreContract, EveryDoubleReadsBackBitForBit) {
  RunFirstCell();
  AddPoints add{Attempt(1, 1, 1), {}};
  for (size_t i = 0; i < kSpecial.size(); ++i) {
    add.points.push_back(
        {Trial(1, 1, 0), "train_loss", static_cast<int64_t>(i), kSpecial[i]});
  }
  ASSERT_TRUE(Commit(add).ok());
  Reopen();
  const auto points = reader().Curve(Trial(1, 1, 0), "train_loss", -1, 100);
  ASSERT_EQ(points->size(), kSpecial.size());
  for (size_t i = 0; i < kSpecial.size(); ++i) {
    const double value = points->at(i).value;
    if (std::isnan(kSpecial[i])) {
      EXPECT_TRUE(std::isnan(value));
    } else {
      EXPECT_EQ(std::bit_cast<uint64_t>(value),
                std::bit_cast<uint64_t>(kSpecial[i]));
    }
  }
}

TEST_P(StoreContract, APointSentAgainIsThereOnceWithItsLastValue) {
  RunFirstCell();
  const AttemptKey attempt = Attempt(1, 1, 1);
  const TrialId trial = Trial(1, 1, 0);
  ASSERT_TRUE(Commit(AddPoints{attempt,
                               {{trial, "train_loss", 10, 2.0},
                                {trial, "train_loss", 10, 3.0},
                                {trial, "train_loss", 20, 1.0}}})
                  .ok());
  ASSERT_TRUE(
      Commit(AddPoints{attempt, {{trial, "train_loss", 20, 4.0}}}).ok());
  EXPECT_THAT(reader().Curve(trial, "train_loss", -1, 100).value(),
              ::testing::ElementsAre(Point{trial, "train_loss", 10, 3.0},
                                     Point{trial, "train_loss", 20, 4.0}));
}

TEST_P(StoreContract, AStepFarAheadDropsNothingThatFollows) {
  RunFirstCell();
  const AttemptKey attempt = Attempt(1, 1, 1);
  const TrialId trial = Trial(1, 1, 0);
  for (const int64_t step : {1, 2, 9999, 3, 4}) {
    ASSERT_TRUE(Commit(AddPoints{attempt,
                                 {{trial, "train_loss", step, 0.5 * step},
                                  {trial, "gradient_norm", step % 3, 1.0}}})
                    .ok());
  }
  Reopen();
  EXPECT_THAT(reader().Curve(trial, "train_loss", -1, 100).value(),
              ::testing::ElementsAre(Point{trial, "train_loss", 1, 0.5},
                                     Point{trial, "train_loss", 2, 1.0},
                                     Point{trial, "train_loss", 3, 1.5},
                                     Point{trial, "train_loss", 4, 2.0},
                                     Point{trial, "train_loss", 9999, 4999.5}));
  EXPECT_EQ(reader().Curve(trial, "gradient_norm", -1, 100)->size(), 3U)
      << "each metric has its own line of steps";
}

TEST_P(StoreContract, CurvesArePagedByStep) {
  RunFirstCell();
  AddPoints add{Attempt(1, 1, 1), {}};
  for (int64_t step = 300; step > 0; step -= 10) {
    add.points.push_back({Trial(1, 1, 1), "gradient_norm", step, 1.0 * step});
    add.points.push_back({Trial(1, 1, 0), "gradient_norm", step, -1.0});
  }
  ASSERT_TRUE(Commit(add).ok());
  int64_t after = -1;
  std::vector<int64_t> steps;
  for (;;) {
    const auto page = reader().Curve(Trial(1, 1, 1), "gradient_norm", after, 7);
    if (page->empty()) break;
    EXPECT_LE(page->size(), 7U);
    for (const Point& point : *page) steps.push_back(point.step);
    after = steps.back();
  }
  EXPECT_EQ(steps.size(), 30U);
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
  EXPECT_THAT(reader().Curve(Trial(1, 1, 1), "unheard_of", -1, 9).value(),
              ::testing::IsEmpty());
  EXPECT_THAT(reader().Curve(Trial(4, 1, 1), "gradient_norm", -1, 9).value(),
              ::testing::IsEmpty());
}

RoutingRecord MakeRouting(const TrialId& trial, int64_t step, double weight) {
  RoutingRecord routing{trial, step, {}, {}};
  routing.map.push_back({{"e"}, {1.0}});
  routing.map.push_back({{"e", "u0", "odd \"\\\n"}, {weight, 1.0 / 3, kInf}});
  routing.map.push_back({{}, {}});
  routing.statistics["route.entropy"] = {0.0, weight, -kInf};
  routing.statistics["layer.input_rms"] = {};
  return routing;
}

TEST_P(StoreContract, RoutingComesBackAndIsReplacedWhole) {
  RunFirstCell();
  const TrialId trial = Trial(1, 1, 0);
  const AttemptKey attempt = Attempt(1, 1, 1);
  EXPECT_EQ(reader().FindRouting(trial, std::nullopt).value(), std::nullopt);
  ASSERT_TRUE(Commit(AddRouting{attempt, MakeRouting(trial, 250, 0.1)}).ok());
  ASSERT_TRUE(Commit(AddRouting{attempt, MakeRouting(trial, 300, 0.2)}).ok());
  Reopen();
  EXPECT_EQ(reader().FindRouting(trial, 250).value(),
            MakeRouting(trial, 250, 0.1));
  EXPECT_EQ(reader().FindRouting(trial, std::nullopt).value(),
            MakeRouting(trial, 300, 0.2));
  EXPECT_EQ(reader().FindRouting(trial, 299).value(), std::nullopt);
  EXPECT_EQ(reader().FindRouting(Trial(1, 1, 1), {}).value(), std::nullopt);

  RoutingRecord smaller{trial, 300, {{{"e"}, {0.5}}}, {}};
  ASSERT_TRUE(Commit(AddRouting{attempt, smaller}).ok());
  EXPECT_EQ(reader().FindRouting(trial, 300).value(), smaller);
}

TEST_P(StoreContract, AThousandWeightsAreAThousandWeights) {
  RunFirstCell();
  const TrialId trial = Trial(1, 1, 0);
  RoutingRecord routing{trial, 250, {{{}, {}}}, {}};
  for (int i = 0; i < 1024; ++i) {
    routing.map[0].sources.push_back("u" + std::to_string(i));
    routing.map[0].weights.push_back(1.0 / (3.0 + i));
  }
  ASSERT_TRUE(Commit(AddRouting{Attempt(1, 1, 1), routing}).ok());
  Reopen();
  EXPECT_EQ(reader().FindRouting(trial, 250).value(), routing);
}

TEST_P(StoreContract, PointsAreCountedOnceCommitted) {
  RunFirstCell();
  const AttemptKey attempt = Attempt(1, 1, 1);
  const TrialId trial = Trial(1, 1, 0);
  const auto counts = [this] {
    const storage::PointCounts points = store().CountPoints();
    return std::pair(points.stored, points.overwritten);
  };
  const auto before = counts();
  const auto after = [&](int64_t stored, int64_t overwritten) {
    return std::pair(before.first + stored, before.second + overwritten);
  };
  ASSERT_TRUE(Commit(AddPoints{attempt,
                               {{trial, "train_loss", 1, 3.0},
                                {trial, "train_loss", 2, kNan}}})
                  .ok());
  EXPECT_EQ(counts(), after(2, 0));
  ASSERT_TRUE(Commit(AddPoints{attempt,
                               {{trial, "train_loss", 9999, 2.0},
                                {trial, "train_loss", 2, 2.5},
                                {trial, "train_loss", 2, 2.6}}})
                  .ok());
  EXPECT_EQ(counts(), after(3, 2));
  EXPECT_EQ(reader().Curve(trial, "train_loss", -1, 9).value()[1].value, 2.6);
  // A transaction that is taken back counts for nothing.
  EXPECT_FALSE(Commit(AddPoints{attempt,
                                {{trial, "train_loss", 3, 1.0},
                                 {Trial(1, 2, 0), "train_loss", 3, 1.0}}})
                   .ok());
  EXPECT_EQ(counts(), after(3, 2));
}

TEST_P(StoreContract, AllTrialsAreCountedByState) {
  RunFirstCell();
  const auto counts = reader().CountTrials();
  ASSERT_TRUE(counts.ok()) << counts.status();
  EXPECT_EQ(counts->at(static_cast<size_t>(TrialState::kQueued)), 2);
  EXPECT_EQ(counts->at(static_cast<size_t>(TrialState::kRunning)), 2);
  EXPECT_EQ(counts->at(static_cast<size_t>(TrialState::kFailed)), 0);
}

TEST_P(StoreContract, RaggedRoutingIsRefused) {
  RunFirstCell();
  RoutingRecord ragged{Trial(1, 1, 0), 1, {{{"e", "u0"}, {1.0}}}, {}};
  EXPECT_EQ(CodeOf(AddRouting{Attempt(1, 1, 1), ragged}),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(StoreContract, WindowLossesComeBackAndAreReplaced) {
  RunFirstCell();
  const TrialId trial = Trial(1, 1, 0);
  const AttemptKey attempt = Attempt(1, 1, 1);
  const storage::WindowLosses first{trial, 250, "validation", {0.1, 1.0 / 3}};
  storage::WindowLosses last{trial, 300, "validation", {kInf, 5e-324}};
  ASSERT_TRUE(Commit(AddWindows{attempt, first}).ok());
  ASSERT_TRUE(Commit(AddWindows{attempt, last}).ok());
  last.losses = {2.0};
  ASSERT_TRUE(Commit(AddWindows{attempt, last}).ok());
  EXPECT_EQ(reader().FindWindows(trial, "validation", 250).value(), first);
  EXPECT_EQ(reader().FindWindows(trial, "validation", {}).value(), last);
  EXPECT_EQ(reader().FindWindows(trial, "test", {}).value(), std::nullopt);
  EXPECT_EQ(reader().FindWindows(trial, "validation", 1).value(), std::nullopt);
}

TEST_P(StoreContract, AResultDeliveredTwiceIsOne) {
  RunFirstCell();
  const TrialId trial = Trial(1, 1, 0);
  EXPECT_EQ(reader().FindResult(trial).value(), std::nullopt);
  storage::ResultRecord result = MakeResult(trial, Attempt(1, 1, 1), 1.5);
  result.best_step.reset();
  result.test_loss.reset();
  ASSERT_TRUE(Commit(AddResult{result}).ok());
  ASSERT_TRUE(Commit(AddResult{result}).ok());
  Reopen();
  EXPECT_EQ(reader().FindResult(trial).value(), result);
}

TEST_P(StoreContract, ANonFiniteResultIsAResult) {
  RunFirstCell();
  const TrialId trial = Trial(1, 1, 0);
  storage::ResultRecord result = MakeResult(trial, Attempt(1, 1, 1), kNan);
  result.best_validation_loss = kInf;
  ASSERT_TRUE(Commit(AddResult{result}).ok());
  Reopen();
  const auto stored = reader().FindResult(trial).value();
  ASSERT_TRUE(stored.has_value());
  EXPECT_TRUE(std::isnan(stored->validation_loss));
  EXPECT_TRUE(std::isnan(*stored->test_loss));
  EXPECT_EQ(stored->best_validation_loss, kInf);
  EXPECT_TRUE(std::isnan(*reader().GetTrial(trial)->validation_loss));
}

}  // namespace
}  // namespace leadline
