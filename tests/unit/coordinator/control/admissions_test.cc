// Sweeps that are stored in parts: who else is served meanwhile, and what is
// left of one that is not stored to its end.

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cycle_world.h"

namespace leadline::control {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr int64_t kCells = 9;
constexpr int64_t kParts = 3;

/// Sweeps above six trials take more than one turn.
class Admission : public CycleWorld {
 protected:
  void SetUp() override { Restart(); }

  void Restart() {
    CommitCycleOptions options;
    options.most_trials = 6;
    Open(std::move(options));
  }

  /// Nine cells of two seeds: three parts.
  static Command Large(const std::string& id = "large") {
    return SubmitSweep{MakeSweep(kCells, 2, 1, "large"), 0, id, false, {}, {}};
  }
  static Command Small(const std::string& id) {
    return SubmitSweep{MakeSweep(1, 1, 1, id), 0, id, false, {}, {}};
  }
  SubmitAnswer SubmitOf(const std::string& name) {
    EXPECT_TRUE(answers_.at(name).ok()) << answers_.at(name).status();
    return std::get<SubmitAnswer>(*answers_.at(name));
  }
  std::vector<int64_t> Sweeps() {
    std::vector<int64_t> ids;
    const auto rows = store_.reader().ListSweeps(std::nullopt, 100);
    for (const storage::SweepRow& row : rows.value()) {
      ids.push_back(row.sweep.id.value);
    }
    return ids;
  }
};

TEST_F(Admission, OthersAreServedWhileALargeSweepIsStored) {
  Turn({{"agent", Register()}, {"large", Large()}});
  for (int64_t part = 1; part < kParts; ++part) {
    EXPECT_EQ(cycle_->NextTurn(), now_.steady) << "nobody waits for a tick";
    Turn({{"beat " + std::to_string(part), Heartbeat{{1}, part, {}}}});
    EXPECT_THAT(sessions_.All<RenewalOrder>(), SizeIs(part));
    EXPECT_THAT(Sweeps(), SizeIs(0)) << "as a whole or not at all";
  }
  Turn({{"small", Small("small")}});
  Turn({{"after", LookAtNodes{}}});
  EXPECT_THAT(answered_, ElementsAre("agent", "beat 1", "beat 2", "small",
                                     "large", "after"));
  EXPECT_EQ(SubmitOf("large").sweep, SweepId{1});
  EXPECT_EQ(SubmitOf("small").sweep, SweepId{2});
  const auto contents = *store_.LoadSweep({1});
  EXPECT_THAT(contents.cells, SizeIs(kCells));
  EXPECT_THAT(contents.trials, SizeIs(2 * kCells));
}

TEST_F(Admission, ItIsKnownAsOneThatWasStoredAtOnce) {
  Turn({{"large", Large()}});
  TurnUntil("large");
  const storage::SweepContents parts = *store_.LoadSweep({1});
  World world;
  world.Submit(MakeSweep(kCells, 2, 1, "large"));
  const Control& control = cycle_->control();
  const State& whole = world.control().state();
  const Sweep& sweep = control.state().sweeps.at({1});
  const Sweep& same = whole.sweeps.at({1});
  EXPECT_EQ(control.state().waiting, whole.waiting);
  ASSERT_EQ(control.state().lines.lines.size(), whole.lines.lines.size());
  for (const auto& [key, line] : whole.lines.lines) {
    const WaitingLine& own = control.state().lines.lines.at(key);
    EXPECT_EQ(own.cohorts, line.cohorts);
    EXPECT_EQ(own.deferral, line.deferral);
  }
  EXPECT_EQ(control.state().lines.by_age.at({1}).begin()->second, 2 * kCells);
  EXPECT_EQ(sweep.trials, same.trials);
  EXPECT_EQ(sweep.work.planned, same.work.planned);
  EXPECT_EQ(sweep.waiting_for, same.waiting_for);
  ASSERT_EQ(sweep.cells.size(), same.cells.size());
  for (size_t i = 0; i < sweep.cells.size(); ++i) {
    EXPECT_EQ(sweep.cells[i].record, same.cells[i].record);
    EXPECT_EQ(sweep.cells[i].work, same.cells[i].work);
    EXPECT_EQ(sweep.cells[i].cohorts.size(), same.cells[i].cohorts.size());
  }
  Turn({{"agent", Register()}});
  EXPECT_THAT(sessions_.All<StartOrder>(), SizeIs(1));
}

TEST_F(Admission, AskedTwiceMeanwhileThereIsOne) {
  Turn({{"first", Large("r")}, {"again", Large("r")}});
  Turn({{"other", Large("other")}});
  for (const char* name : {"first", "again", "other"}) TurnUntil(name);
  EXPECT_THAT(Sweeps(), ElementsAre(1));
  EXPECT_FALSE(SubmitOf("first").existing);
  EXPECT_EQ(SubmitOf("again").sweep, SweepId{1});
  EXPECT_TRUE(SubmitOf("other").existing);
}

TEST_F(Admission, KilledBetweenPartsNothingOfItIsThere) {
  Turn({{"large", Large()}});
  Turn();
  Restart();
  EXPECT_THAT(Sweeps(), SizeIs(0));
  EXPECT_TRUE(cycle_->control().state().sweeps.empty());
  Turn();
  EXPECT_EQ(*store_.NextSweepId(), SweepId{1}) << "what was stored is purged";
  Turn({{"again", Large()}});
  TurnUntil("again");
  EXPECT_THAT(Sweeps(), SizeIs(1));
  EXPECT_FALSE(SubmitOf("again").existing);
}

TEST_F(Admission, APartThatTheDiskRefusesIsToldAndAskedAgainIsDone) {
  Turn({{"large", Large()}});
  store_.failure = absl::UnavailableError("disk full");
  store_.failures = 1;
  Turn();
  Turn({{"look", Small("small")}});
  EXPECT_EQ(answers_.at("large").status().code(),
            absl::StatusCode::kUnavailable);
  now_.steady += std::chrono::seconds(10);
  Turn({{"again", Large()}});
  TurnUntil("again");
  EXPECT_THAT(Sweeps(), SizeIs(1));
}

TEST_F(Admission, APartThatCannotStandBlamesNobodyElse) {
  store_.refuses = [](std::span<const storage::Change> changes) {
    for (const storage::Change& change : changes) {
      const auto* stage = std::get_if<storage::StageSweep>(&change);
      if (stage && stage->part.cells.front().id.number > 1) {
        return absl::InternalError("no");
      }
    }
    return absl::OkStatus();
  };
  Turn({{"large", Large()}, {"agent", Register()}});
  TurnUntil("large");
  EXPECT_EQ(answers_.at("large").status().code(), absl::StatusCode::kInternal);
  Turn({{"small", Small("small")}});
  EXPECT_TRUE(answers_.at("small").ok());
  EXPECT_THAT(sessions_.All<StartOrder>(), SizeIs(1));
}

TEST_F(Admission, WhoWaitsIsToldWhenTheCoordinatorEnds) {
  Turn({{"large", Large()}});
  cycle_->Abandon(absl::UnavailableError("the coordinator is ending"));
  EXPECT_EQ(answers_.at("large").status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace leadline::control
