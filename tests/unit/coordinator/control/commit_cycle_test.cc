#include "coordinator/control/commit_cycle.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control_world.h"
#include "errors/error_code.h"
#include "faulty_store.h"

namespace leadline::control {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class Orders final : public EffectSink {
 public:
  void Deliver(const AgentOrder& order) override { orders.push_back(order); }
  void CloseAllSessions(const absl::Status&) override { ++closed; }
  bool IsWatched(SweepId) override { return true; }
  void Publish(const ProgressReport&) override {}

  int CountAcknowledgements() const {
    int count = 0;
    for (const AgentOrder& order : orders) {
      count += std::holds_alternative<AckOrder>(order.order) ? 1 : 0;
    }
    return count;
  }

  std::vector<AgentOrder> orders;
  int closed = 0;
};

/// Keeps what it was told.
class Notes final : public Observer {
 public:
  void OnTurn(Moment, Seconds, const std::string& why) override {
    refusal = why;
    ++turns;
  }
  void OnTally(const Tally& tally) override { all.Add(tally); }
  void OnOverview(Overview overview) override {
    overviews.push_back(std::move(overview));
  }

  int turns = 0;
  std::string refusal;
  Tally all;
  std::vector<Overview> overviews;
};

/// A cycle whose clock moves when told, and the answers it gave.
class CommitCycleTest : public testing::Test {
 protected:
  void SetUp() override { Restart(); }

  void Restart() {
    CommitCycleOptions options;
    options.now = [this] { return now_; };
    options.observer = &notes_;
    auto cycle = CommitCycle::Start(std::move(options), store_, orders_, log_);
    ASSERT_TRUE(cycle.ok()) << cycle.status();
    cycle_ = *std::move(cycle);
  }

  void Turn(std::vector<Command> commands = {}) {
    std::deque<Envelope> arrived;
    for (Command& command : commands) {
      arrived.push_back({std::move(command), [this](const auto& answer) {
                           answers_.push_back(answer.status());
                         }});
    }
    cycle_->Turn(std::move(arrived));
  }

  void Pass(Seconds time) {
    now_.steady += std::chrono::duration_cast<SteadyTime::duration>(time);
  }

  /// The store takes no loss of 13.
  void RefuseThirteen() {
    store_.refuses = [](std::span<const storage::Change> changes) {
      for (const storage::Change& change : changes) {
        const auto* add = std::get_if<storage::AddPoints>(&change);
        if (!add) continue;
        for (const storage::Point& point : add->points) {
          if (point.value == 13) return absl::InternalError("thirteen");
        }
      }
      return absl::OkStatus();
    };
  }

  static Command Submit(const std::string& id) {
    return SubmitSweep{MakeSweep(1, 1, 1, id), 0, id, false, {}, {}};
  }
  static Command Register() {
    NodeRegistered node;
    node.session = {1};
    node.node = "n";
    node.instance = "i";
    node.devices.push_back({"cpu:0", "cpu", 0});
    return node;
  }

  Moment now_{SteadyTime{} + std::chrono::hours(1), storage::WallTime{}};
  FaultyStore store_;
  Orders orders_;
  Notes notes_;
  NoLog log_;
  std::unique_ptr<CommitCycle> cycle_;
  std::vector<absl::Status> answers_;
};

constexpr AttemptKey kAttempt{{{{1}, 1}, 0}, 1};

TEST_F(CommitCycleTest, NothingIsAppliedWhileACommitIsRefused) {
  Turn({Submit("r1")});
  store_.failure = absl::UnavailableError("disk full");
  store_.failures = 1;
  Turn({Register()});
  const int commits = store_.commits;
  Turn({LookAtSweep{{1}}, Tick{}});
  EXPECT_EQ(store_.commits, commits) << "the next try is not due";
  EXPECT_THAT(answers_, SizeIs(1));
  EXPECT_THAT(orders_.orders, IsEmpty());
  EXPECT_EQ(cycle_->control().state().sweeps.size(), 1u);
  Pass(cycle_->NextTurn() - now_.steady);
  Turn();
  EXPECT_THAT(answers_, SizeIs(4));
  EXPECT_THAT(orders_.orders, SizeIs(2)) << "welcome and start";
}

TEST_F(CommitCycleTest, WhoAsksForAChangeMeanwhileLearnsAtOnceWhyThereIsNone) {
  store_.failure =
      WithError(absl::UnavailableError("disk full"), ErrorCode::kDiskFull);
  store_.failures = 1;
  Turn({Submit("r1")});
  EXPECT_THAT(answers_, IsEmpty()) << "what was begun is not taken back";
  Turn({Submit("r2"), Submit("r3")});
  ASSERT_THAT(answers_, SizeIs(2));
  for (const absl::Status& answer : answers_) {
    EXPECT_TRUE(absl::IsUnavailable(answer));
    EXPECT_EQ(ErrorOf(answer), ErrorCode::kDiskFull);
    EXPECT_THAT(std::string(answer.message()), testing::HasSubstr("disk full"));
  }
  Pass(cycle_->NextTurn() - now_.steady);
  Turn();
  EXPECT_TRUE(answers_.at(2).ok());
  Turn({Submit("r2")});
  EXPECT_TRUE(answers_.at(3).ok());
  EXPECT_EQ(*store_.reader().CountSweeps(), 2);
}

TEST_F(CommitCycleTest, FailedCommitOfAMergedBatchIsToldToEachCaller) {
  constexpr int64_t kCallers = 5;
  Turn({SubmitSweep{MakeSweep(kCallers, 1, 1), 0, "r1", false, {}, {}}});
  NodeRegistered node = std::get<NodeRegistered>(Register());
  for (int64_t i = 1; i < kCallers; ++i) {
    node.devices.push_back({"cpu:" + std::to_string(i), "cpu", 0});
  }
  Turn({node});
  std::vector<Command> records;
  for (int64_t cell = 1; cell <= kCallers; ++cell) {
    records.emplace_back(Records{{1}, {{{{1}, cell}, 0}, 1}, {StepAt(1, 1)}});
  }
  answers_.clear();
  store_.failure = absl::InternalError("no");
  store_.failures = 2;
  const int commits = store_.commits;
  Turn(records);
  EXPECT_EQ(store_.commits, commits + 2) << "one for all, then the first's";
  EXPECT_THAT(answers_, SizeIs(kCallers));
  for (const absl::Status& answer : answers_) EXPECT_FALSE(answer.ok());
  EXPECT_EQ(orders_.CountAcknowledgements(), 0);
  EXPECT_TRUE(notes_.all.IsEmpty());
  const TrialId trial{{{1}, 1}, 0};
  EXPECT_THAT(*store_.reader().Curve(trial, "train_loss", -1, 9), IsEmpty());
}

TEST_F(CommitCycleTest, ObserverHearsOfTurnsRefusalsAndWhatIsCommitted) {
  ASSERT_THAT(notes_.overviews, SizeIs(1));
  Turn({Submit("r1")});
  EXPECT_EQ(notes_.turns, 1);
  EXPECT_EQ(notes_.refusal, "");
  store_.failure = absl::UnavailableError("disk full");
  store_.failures = 1;
  Pass(Seconds{2});
  Turn({Submit("r2")});
  EXPECT_EQ(notes_.refusal, "disk full");
  EXPECT_THAT(notes_.overviews, SizeIs(1)) << "what is refused is not so";
  Pass(cycle_->NextTurn() - now_.steady);
  Turn();
  EXPECT_EQ(notes_.refusal, "");
  ASSERT_THAT(notes_.overviews, SizeIs(2));
  EXPECT_THAT(notes_.overviews.back().sweeps, SizeIs(2));
  Turn();
  EXPECT_THAT(notes_.overviews, SizeIs(2)) << "about one a second";
}

TEST_F(CommitCycleTest, RefusedCommitIsTriedLessAndLessOften) {
  store_.failure = absl::UnavailableError("disk full");
  store_.failures = 1000;
  Turn({Submit("r1")});
  std::vector<Seconds> waits;
  for (int i = 0; i < 8; ++i) {
    waits.emplace_back(cycle_->NextTurn() - now_.steady);
    Pass(waits.back());
    Turn();
  }
  EXPECT_DOUBLE_EQ(waits.front().count(), 0.1);
  EXPECT_DOUBLE_EQ(waits[1].count(), 0.2);
  EXPECT_DOUBLE_EQ(waits.back().count(), 5);
  store_.failures = 0;
  Pass(Seconds{5});
  Turn();
  store_.failures = 1;
  Turn({Submit("r2")});
  EXPECT_DOUBLE_EQ(Seconds(cycle_->NextTurn() - now_.steady).count(), 0.1);
}

TEST_F(CommitCycleTest, ARemovalThatIsLeftDoesNotSpinWhileTheDiskRefuses) {
  Turn({Submit("r1"), CancelTarget{SweepId{1}, "r2", {}}});
  store_.failure = absl::UnavailableError("disk full");
  store_.failures = 1;
  Turn({RemoveTargets{{SweepId{1}}, false, "r3", {}, {}}});
  EXPECT_GT(cycle_->NextTurn(), now_.steady);
}

TEST_F(CommitCycleTest, WhatIsAbandonedWithARefusedCommitNeverWas) {
  store_.failure = absl::UnavailableError("disk full");
  store_.failures = 1;
  Turn({Submit("r1"), Submit("r2")});
  cycle_->Abandon(absl::UnavailableError("ending"));
  EXPECT_THAT(answers_, SizeIs(2));
  for (const absl::Status& answer : answers_) {
    EXPECT_TRUE(absl::IsUnavailable(answer));
  }
  EXPECT_EQ(*store_.reader().CountSweeps(), 0);
}

TEST_F(CommitCycleTest, CommitsThatCannotStandOneAfterTheOtherDoNotSpin) {
  store_.failure = absl::FailedPreconditionError("a fault of ours");
  store_.failures = 1000;
  Turn({Submit("r1")});
  EXPECT_TRUE(absl::IsInternal(answers_.at(0)));
  const int commits = store_.commits;
  for (int i = 0; i < 100; ++i) {
    Turn({Submit("r" + std::to_string(i + 2))});
    Pass(Seconds{0.01});
  }
  EXPECT_LT(store_.commits - commits, 10);
  store_.failures = 0;
  Pass(Seconds{5});
  Turn();
  Turn({Submit("last")});
  EXPECT_TRUE(answers_.back().ok());
}

constexpr AttemptKey Attempt(int64_t cell) { return {{{{1}, cell}, 0}, 1}; }

Records Loss(int64_t session, int64_t cell, double loss) {
  TrainerStep body;
  body.step = 1;
  body.train_loss = {loss};
  return {{session}, Attempt(cell), {{1, body}}};
}

/// Five agents with an attempt each, and a sweep of them.
std::vector<Command> FiveAgents() {
  std::vector<Command> commands{
      SubmitSweep{MakeSweep(5, 1, 1, "r1"), 0, "r1", false, {}, {}}};
  for (int64_t n = 1; n <= 5; ++n) {
    NodeRegistered node;
    node.session = {n};
    node.node = "n" + std::to_string(n);
    node.instance = "i";
    node.devices.push_back({"cpu:0", "cpu", 0});
    commands.emplace_back(std::move(node));
  }
  return commands;
}

TEST_F(CommitCycleTest, OfABatchEachIsToldItsOwn) {
  Turn(FiveAgents());
  answers_.clear();
  RefuseThirteen();
  Turn({Loss(1, 1, 1.0), Loss(2, 2, 2.0), Loss(3, 3, 13), Loss(4, 4, 4.0),
        LookAtSweep{{1}}});
  ASSERT_THAT(answers_, SizeIs(4)) << "the last is asked again";
  EXPECT_TRUE(answers_[0].ok());
  EXPECT_TRUE(answers_[1].ok());
  EXPECT_TRUE(absl::IsInternal(answers_[2])) << "it alone is to blame";
  EXPECT_TRUE(absl::IsUnavailable(answers_[3])) << "its agent sends it again";
  EXPECT_EQ(orders_.closed, 1);
  EXPECT_EQ(orders_.CountAcknowledgements(), 2);
  for (int64_t cell = 1; cell <= 4; ++cell) {
    EXPECT_THAT(*store_.reader().Curve({{{1}, cell}, 0}, "train_loss", 0, 10),
                SizeIs(cell <= 2 ? 1 : 0))
        << cell;
  }
  Turn();
  ASSERT_THAT(answers_, SizeIs(5));
  EXPECT_TRUE(answers_[4].ok());
}

TEST_F(CommitCycleTest, AFullDiskAmongCommitsOneByOneIsWaitedFor) {
  Turn(FiveAgents());
  answers_.clear();
  RefuseThirteen();
  const auto refuse = store_.refuses;
  bool is_full = true;
  store_.refuses = [&](std::span<const storage::Change> changes) {
    const absl::Status refused = refuse(changes);
    const bool second = is_full && refused.ok() && answers_.size() == 1;
    return second ? absl::UnavailableError("disk full") : refused;
  };
  Turn({Loss(1, 1, 1.0), Loss(2, 2, 2.0), Loss(3, 3, 13)});
  EXPECT_THAT(answers_, SizeIs(1));
  is_full = false;
  Pass(cycle_->NextTurn() - now_.steady);
  Turn();
  ASSERT_THAT(answers_, SizeIs(3));
  EXPECT_TRUE(answers_[1].ok());
  EXPECT_TRUE(absl::IsInternal(answers_[2]));
}

TEST_F(CommitCycleTest, ADamagedStoreBlamesNobody) {
  Turn(FiveAgents());
  answers_.clear();
  store_.failure = absl::DataLossError("malformed");
  store_.failures = 1;
  const int commits = store_.commits;
  Turn({Loss(1, 1, 1.0), Loss(2, 2, 2.0)});
  EXPECT_EQ(store_.commits, commits + 1);
  ASSERT_THAT(answers_, SizeIs(2));
  for (const absl::Status& answer : answers_) {
    EXPECT_TRUE(absl::IsDataLoss(answer));
  }
}

TEST_F(CommitCycleTest, RetryReadsOnlySoManyEndedSweeps) {
  RetryTargets retry;
  for (int64_t sweep = 1; sweep <= 33; ++sweep) {
    retry.targets.emplace_back(SweepId{sweep});
  }
  retry.request_id = "many";
  Turn({retry});
  EXPECT_TRUE(absl::IsInvalidArgument(answers_.at(0)));
  retry.targets.pop_back();
  retry.request_id = "few";
  Turn({retry});
  EXPECT_TRUE(absl::IsNotFound(answers_.at(1)));
}

TEST_F(CommitCycleTest, RecordsOfASupersededAttemptAreAcknowledgedOnceKept) {
  Turn({Submit("r1"), Register()});
  Turn({AttemptRefused{{1}, kAttempt, FailureKind::kCrash, "no"}});
  orders_.orders.clear();
  store_.failure = absl::UnavailableError("disk full");
  store_.failures = 1;
  Turn({Records{{1}, kAttempt, {StepAt(1, 10), StepAt(2, 20)}}});
  EXPECT_EQ(orders_.CountAcknowledgements(), 0);
  EXPECT_THAT(*store_.reader().ListOrphans(kAttempt, 0, 100), IsEmpty());
  Pass(cycle_->NextTurn() - now_.steady);
  const int commits = store_.commits;
  Turn();
  EXPECT_EQ(store_.commits, commits + 1) << "one transaction for all of them";
  EXPECT_THAT(*store_.reader().ListOrphans(kAttempt, 0, 100), SizeIs(2));
  EXPECT_EQ(orders_.CountAcknowledgements(), 1);
}

TEST_F(CommitCycleTest, AnOrphanNobodyKnowsDoesNotTakeOthersWithIt) {
  Turn({Submit("r1"), Register()});
  Turn({AttemptRefused{{1}, kAttempt, FailureKind::kCrash, "no"}});
  const AttemptKey unknown{{{{7}, 1}, 0}, 1};
  Turn({Records{{1}, unknown, {StepAt(1, 10)}},
        Records{{1}, kAttempt, {StepAt(1, 10)}}});
  EXPECT_THAT(*store_.reader().ListOrphans(kAttempt, 0, 100), SizeIs(1));
  EXPECT_EQ(orders_.closed, 0);
}

}  // namespace
}  // namespace leadline::control
