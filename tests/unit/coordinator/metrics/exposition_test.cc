#include "coordinator/metrics/exposition.h"

#include <atomic>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/metrics/bounds.h"
#include "page.h"
#include "tests/support/store_world.h"

namespace leadline::metrics {
namespace {

using std::chrono::minutes;
using test::Attempt;
using test::Trial;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

/// A record in memory, and what control would tell of it.
class ExpositionTest : public testing::Test {
 protected:
  storage::Store& store() { return *pair_.store; }

  void Add(const storage::AddSweep& sweep) {
    ASSERT_TRUE(test::CommitOne(store(), sweep).ok());
  }

  void Succeed(int64_t sweep, int64_t cell, std::vector<double> losses) {
    std::vector<TrialId> trials;
    for (int64_t s = 0; s < std::ssize(losses); ++s) {
      trials.push_back(Trial(sweep, cell, s));
    }
    const AttemptKey attempt = Attempt(sweep, cell, 1);
    ASSERT_TRUE(test::Run(store(), attempt, trials).ok());
    for (int64_t s = 0; s < std::ssize(losses); ++s) {
      ASSERT_TRUE(test::Succeed(store(), trials[s], attempt, losses[s]).ok());
    }
  }

  /// What is in the store, as control would have it in memory.
  void Tell(SweepState state = SweepState::kActive) {
    control::Overview overview;
    overview.at = now_;
    const auto rows = pair_.reader->ListSweeps({}, 1'000'000).value();
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
      overview.sweeps.push_back({row->sweep.id, state, row->trials});
    }
    exposition_.Take(std::move(overview));
  }

  std::map<std::string, double> Series() {
    return SeriesOf(exposition_.Text());
  }

  control::SteadyTime now_ = control::SteadyTime{} + minutes(1000);
  storage::StorePair pair_ = storage::MakeMemoryStore();
  Counters counters_{{{"SweepService/Submit"}, {"/metrics"}}};
  Exposition exposition_{
      {counters_, *pair_.reader, "1.2", "abc", [this] { return now_; }}};
};

std::string Cell(const std::string& figure, const std::string& sweep,
                 const std::string& method = "prenorm") {
  return "leadline_cell_loss_" + figure + "{sweep=\"" + sweep +
         "\",depth=\"12\",dataset=\"text8\",method=\"" + method + "\"}";
}

TEST_F(ExpositionTest, StatesSumToTheTrialsWhateverHappensToThem) {
  Add(test::MakeSweep(1, 2, 3));
  const auto check = [this](const char* when) {
    Tell();
    const auto series = Series();
    EXPECT_EQ(SumOf(series, "leadline_trials"), 6) << when;
    EXPECT_EQ(SumOf(series, "leadline_sweep_trials"), 6) << when;
    for (const TrialState state : kTrialStates) {
      EXPECT_THAT(series, Contains(Key("leadline_trials{state=\"" +
                                       std::string(Name(state)) + "\"}")));
    }
  };
  check("queued");
  const AttemptKey attempt = Attempt(1, 1, 1);
  ASSERT_TRUE(test::Run(store(), attempt, {Trial(1, 1, 0)}).ok());
  check("running");
  ASSERT_TRUE(test::Succeed(store(), Trial(1, 1, 0), attempt, 1).ok());
  check("succeeded");
  EXPECT_EQ(Series()["leadline_trials{state=\"succeeded\"}"], 1);
  EXPECT_EQ(Series()["leadline_trials{state=\"running\"}"], 0);
}

TEST_F(ExpositionTest, CellHasTheFiguresOfTheTables) {
  Add(test::MakeSweep(1, 1, 3));
  Succeed(1, 1, {1, 2, 6});
  Tell();
  std::string labels;
  for (const auto& [key, value] : Series()) {
    if (key.starts_with("leadline_cell_loss_sd{")) labels = key.substr(21);
  }
  auto series = Series();
  EXPECT_EQ(series["leadline_cell_loss_mean" + labels], 3);
  EXPECT_NEAR(series["leadline_cell_loss_sd" + labels], 2.6458, 1e-4);
  EXPECT_EQ(series["leadline_cell_loss_seeds" + labels], 3);
}

TEST_F(ExpositionTest, OneSeedHasNoDeviation) {
  Add(test::MakeSweep(1, 1, 1));
  Succeed(1, 1, {1});
  Tell();
  const std::string page = exposition_.Text();
  EXPECT_THAT(page, HasSubstr("\nleadline_cell_loss_mean{"));
  EXPECT_THAT(page, Not(HasSubstr("leadline_cell_loss_sd")));
}

TEST_F(ExpositionTest, CellsThatDifferInAnotherAxisAreToldApart) {
  storage::AddSweep sweep = test::MakeSweep(1, 2, 1);
  for (size_t c = 0; c < 2; ++c) {
    sweep.cells[c].depth = 12;
    sweep.cells[c].dataset_label = "text8";
    sweep.cells[c].method_label = "prenorm";
    sweep.cells[c].axes_json = R"({"depth":"12","lr":")" +
                               std::string(c == 0 ? "0.1" : "0.2") + R"("})";
  }
  Add(sweep);
  Succeed(1, 1, {1});
  Succeed(1, 2, {2});
  Tell();
  auto series = Series();
  EXPECT_EQ(series[Cell("mean", "s1", "prenorm (lr=0.1)")], 1);
  EXPECT_EQ(series[Cell("mean", "s1", "prenorm (lr=0.2)")], 2);
}

TEST_F(ExpositionTest, SweepThatEndedIsGoneAfterTenMinutes) {
  Add(test::MakeSweep(1, 1, 2));
  Succeed(1, 1, {1, 2});
  Tell(SweepState::kComplete);
  const auto shown = [this] {
    const std::string page = exposition_.Text();
    const bool cells = page.find("leadline_cell_loss_") != std::string::npos;
    const bool trials = page.find("leadline_sweep_trials") != std::string::npos;
    EXPECT_EQ(cells, trials);
    return cells;
  };
  EXPECT_TRUE(shown());
  now_ += minutes(9);
  // Control has forgotten it meanwhile.
  control::Overview nothing;
  nothing.at = now_;
  exposition_.Take(nothing);
  EXPECT_TRUE(shown());
  now_ += minutes(1);
  EXPECT_FALSE(shown());
  EXPECT_EQ(SumOf(Series(), "leadline_trials"), 2);
}

TEST_F(ExpositionTest, SweepThatIsRetriedIsShownAgain) {
  Add(test::MakeSweep(1, 1, 2));
  Tell(SweepState::kComplete);
  now_ += minutes(60);
  Tell(SweepState::kActive);
  EXPECT_EQ(SumOf(Series(), "leadline_sweep_trials"), 2);
}

TEST_F(ExpositionTest, FiveThousandTrialsLeaveThePageSmall) {
  // A sweep of 1,000 cells and 4,000 sweeps of one trial each.
  storage::AddSweep large = test::MakeSweep(1, 1000, 1);
  for (storage::CellRecord& cell : large.cells) {
    cell.method_label =
        "method " + std::to_string(cell.id.number) + std::string(500, 'x');
  }
  Add(large);
  for (int64_t c = 1; c <= 1000; ++c) Succeed(1, c, {1});
  for (int64_t s = 2; s <= 4001; ++s) Add(test::MakeSweep(s, 1, 1));
  Tell();
  const std::string page = exposition_.Text();
  EXPECT_LT(page.size(), size_t{1} << 20);
  auto series = SeriesOf(page);
  EXPECT_LT(series.size(), 3500u);
  EXPECT_EQ(series["leadline_series_left_out{what=\"sweeps\"}"],
            4001 - static_cast<double>(kMostSweeps));
  EXPECT_EQ(SumOf(series, "leadline_trials"), 5000);

  // The large one again, being among the newest.
  storage::AddSweep newest = test::MakeSweep(4002, 1000, 1);
  for (storage::CellRecord& cell : newest.cells) {
    cell.method_label = std::to_string(cell.id.number);
  }
  Add(newest);
  for (int64_t c = 1; c <= 1000; ++c) Succeed(4002, c, {1});
  Tell();
  series = Series();
  EXPECT_EQ(SumOf(series, "leadline_cell_loss_mean"), kMostCellSeries / 3);
  EXPECT_EQ(series["leadline_series_left_out{what=\"cells\"}"],
            1000 - static_cast<double>(kMostCellSeries / 3));
}

TEST_F(ExpositionTest, PagesAreMadeWhileSweepsComeAndGo) {
  for (int64_t s = 1; s <= 20; ++s) Add(test::MakeSweep(s, 1, 1));
  std::atomic<bool> ends{false};
  std::jthread control([&] {
    for (int64_t i = 0; !ends; ++i) {
      control::Overview overview;
      overview.at = now_;
      for (int64_t s = 1 + i % 10; s <= 10 + i % 10; ++s) {
        overview.sweeps.push_back({SweepId{s}, SweepState::kActive, {1}});
      }
      exposition_.Take(std::move(overview));
      counters_.CountTokens("n" + std::to_string(i % 400), 1);
    }
  });
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(exposition_.Text().empty());
  ends = true;
}

TEST_F(ExpositionTest, SaysWhatRunsAndWhatItTakes) {
  auto series = Series();
  EXPECT_EQ(series["leadline_build_info{version=\"1.2\",commit=\"abc\"}"], 1);
  EXPECT_GT(series["process_resident_memory_bytes"], 1 << 20);
  EXPECT_GT(series["process_open_fds"], 2);
  EXPECT_GT(series["process_start_time_seconds"], 1.7e9);
}

}  // namespace
}  // namespace leadline::metrics
