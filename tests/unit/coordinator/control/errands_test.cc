// What concerns so many trials that it is done in parts: who else is served
// meanwhile, that nothing of the sweep starts, who is answered when, and that a
// restart goes on with it.

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cycle_world.h"

namespace leadline::control {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr SweepId kSweep{1};
constexpr int64_t kCells = 9;
constexpr int64_t kTrials = 2 * kCells;
constexpr int64_t kAPart = 6;

/// A sweep of nine cells of two seeds, one of which an agent trains; a turn
/// moves six trials.
class Errands : public CycleWorld {
 protected:
  void SetUp() override { Begin({}); }

  void Begin(const std::function<void(storage::SweepRecord&)>& set) {
    Restart();
    NewSweep sweep = MakeSweep(kCells, 2, 1, "large");
    if (set) set(sweep.sweep);
    Turn({{"agent", Register()},
          {"submit", SubmitSweep{std::move(sweep), 0, "s", false, {}, {}}}});
    TurnUntil("submit");
    ASSERT_THAT(sessions_.All<StartOrder>(), SizeIs(1));
  }

  void Restart() {
    sessions_.orders.clear();
    CommitCycleOptions options;
    options.most_trials = kAPart;
    options.policy.most_moves = kAPart;
    Open(std::move(options));
  }

  void TurnUntilDone() {
    for (int i = 0; i < 20 && HasErrands(cycle_->control().state()); ++i) {
      EXPECT_EQ(cycle_->NextTurn(), now_.steady) << "nobody waits for a tick";
      Turn();
    }
    ASSERT_FALSE(HasErrands(cycle_->control().state()));
  }
  void Pass(Seconds time) {
    for (Seconds passed{0}; passed < time; passed += Seconds{1}) {
      now_.steady += std::chrono::seconds(1);
      Turn();
    }
  }

  static Command Beat(int64_t number) { return Heartbeat{{1}, number, {}}; }
  static Command Cancel(Target target = kSweep, const std::string& id = "c") {
    return CancelTarget{target, id, {}};
  }
  static Command Retry(std::vector<Target> targets = {kSweep},
                       const std::string& id = "r") {
    return RetryTargets{std::move(targets), true, true, id, {}, {}};
  }
  static Command Ended(const AttemptKey& attempt) {
    AttemptEnded ended;
    ended.session = {1};
    ended.attempt = attempt;
    return ended;
  }
  static Command Refused(const AttemptKey& attempt) {
    return AttemptRefused{{1}, attempt, FailureKind::kConfig, "no such key"};
  }

  int64_t CancelledOf(const std::string& name) {
    EXPECT_TRUE(answers_.at(name).ok()) << answers_.at(name).status();
    return std::get<CancelAnswer>(*answers_.at(name)).cancelled;
  }
  RetriedTarget RetriedOf(const std::string& name, size_t target = 0) {
    EXPECT_TRUE(answers_.at(name).ok()) << answers_.at(name).status();
    return std::get<RetryAnswer>(*answers_.at(name)).targets.at(target);
  }
  SweepState State() { return store_.FindSweep(kSweep)->value().state; }
  /// How many trials are stored in that state.
  int64_t Count(TrialState state) {
    const auto contents = *store_.LoadSweep(kSweep);
    return std::ranges::count(contents.trials, state,
                              &storage::TrialRecord::state);
  }
  const Sweep& Known() { return cycle_->control().state().sweeps.at(kSweep); }
  std::string WaitsFor(int64_t cell) {
    return DeferralOf(cycle_->control().state(),
                      Known().cells.at(cell - 1).cohorts.at(0))
        .reason;
  }

  /// All of it, and no process is left.
  void CancelAll() {
    Turn({{"cancel", Cancel()}});
    TurnUntil("cancel");
    Turn({{"end", Ended(AttemptOf(1, 1, 1))}});
    ASSERT_EQ(State(), SweepState::kCancelled);
  }
  void Forget() {
    Pass(Seconds{15});
    ASSERT_FALSE(cycle_->control().state().sweeps.contains(kSweep));
  }
};

class StoppedErrands : public Errands {
 protected:
  void SetUp() override {}
};

TEST_F(Errands, OthersAreServedWhileMuchIsCancelled) {
  answered_.clear();
  Turn({{"cancel", Cancel()}, {"beat 1", Beat(1)}});
  EXPECT_THAT(sessions_.All<StopOrder>(), SizeIs(1)) << "what lives, at once";
  for (int64_t turn = 2; turn <= 3; ++turn) {
    EXPECT_EQ(State(), SweepState::kActive);
    EXPECT_EQ(WaitsFor(kCells), "it is being cancelled");
    Turn({{"beat " + std::to_string(turn), Beat(turn)}});
  }
  EXPECT_THAT(sessions_.All<RenewalOrder>(), SizeIs(3));
  EXPECT_THAT(answered_, ElementsAre("beat 1", "beat 2", "beat 3", "cancel"));
  EXPECT_EQ(CancelledOf("cancel"), kTrials);
  EXPECT_EQ(State(), SweepState::kCancelled);
  EXPECT_EQ(Count(TrialState::kCancelled), kTrials);
  EXPECT_THAT(sessions_.All<StartOrder>(), SizeIs(1));
}

TEST_F(Errands, DeviceThatIsFreeMeanwhileGetsNothingOfTheSweep) {
  Turn({{"cancel", Cancel()}});
  Turn({{"end", Ended(AttemptOf(1, 1, 1))}});
  EXPECT_THAT(sessions_.All<StartOrder>(), SizeIs(1));
  TurnUntil("cancel");
  EXPECT_THAT(sessions_.All<StartOrder>(), SizeIs(1));
}

TEST_F(Errands, WhatACrashInterruptsIsDoneAfterItAndAnsweredOnce) {
  Turn({{"cancel", Cancel()}});
  ASSERT_GT(Count(TrialState::kQueued), 0);
  Restart();
  Turn({{"agent", Register()}});
  TurnUntilDone();
  EXPECT_EQ(State(), SweepState::kCancelled);
  EXPECT_EQ(Count(TrialState::kCancelled), kTrials);
  EXPECT_THAT(sessions_.All<StartOrder>(), IsEmpty());
  Turn({{"again", Cancel()}});
  EXPECT_EQ(CancelledOf("again"), kTrials);
}

TEST_F(Errands, WhoAsksAgainMeanwhileIsAnsweredWhenAllIsDone) {
  Turn({{"cancel", Cancel()}});
  Restart();
  Turn({{"again", Cancel()}});
  EXPECT_FALSE(answers_.contains("again"));
  TurnUntil("again");
  EXPECT_EQ(Count(TrialState::kCancelled), kTrials);
  EXPECT_EQ(CancelledOf("again"), kTrials);
}

TEST_F(Errands, RequestsUponTheSweepWaitAndKeepTheirOrder) {
  answered_.clear();
  const Command other =
      SubmitSweep{MakeSweep(1, 1, 1, "small"), 0, "o", false, {}, {}};
  Turn({{"cancel", Cancel()}});
  Turn({{"retry", Retry()},
        {"pause", PauseSweep{kSweep, false, "p", {}}},
        {"other", other},
        {"look", LookAtSweep{kSweep}}});
  EXPECT_THAT(answered_, ElementsAre("other", "look"));
  TurnUntil("pause");
  EXPECT_THAT(answered_,
              ElementsAre("other", "look", "cancel", "retry", "pause"));
  EXPECT_EQ(RetriedOf("retry").queued, kTrials);
  EXPECT_EQ(State(), SweepState::kPaused);
  EXPECT_EQ(Count(TrialState::kQueued), kTrials);
}

TEST_F(Errands, NothingStartsBeforeAllIsQueuedAgain) {
  CancelAll();
  Turn({{"retry", Retry()}});
  while (!answers_.contains("retry")) {
    EXPECT_THAT(sessions_.All<StartOrder>(), SizeIs(1));
    EXPECT_EQ(WaitsFor(1), "its trials are being queued again");
    Turn();
  }
  EXPECT_EQ(RetriedOf("retry").queued, kTrials);
  EXPECT_THAT(sessions_.All<StartOrder>(), SizeIs(2));
  EXPECT_EQ(Count(TrialState::kQueued), kTrials - 1);
}

TEST_F(Errands, RetryThatACrashInterruptsIsGoneOnWith) {
  CancelAll();
  Turn({{"retry", Retry()}});
  ASSERT_GT(Count(TrialState::kCancelled), 0);
  Restart();
  Turn({{"agent", Register()}});
  TurnUntilDone();
  EXPECT_EQ(State(), SweepState::kActive);
  EXPECT_EQ(Count(TrialState::kCancelled), 0);
  EXPECT_THAT(sessions_.All<StartOrder>(), SizeIs(1));
  Turn({{"again", Retry()}});
  EXPECT_EQ(RetriedOf("again").queued, kTrials);
}

TEST_F(Errands, OneThatIsForgottenIsReadInPartsAndQueuedAgain) {
  CancelAll();
  Forget();
  answered_.clear();
  Turn({{"retry", Retry()}, {"beat 1", Beat(1)}});
  Turn({{"cancel", Cancel(kSweep, "c2")}, {"beat 2", Beat(2)}});
  EXPECT_THAT(answered_, ElementsAre("beat 1", "beat 2"));
  EXPECT_EQ(State(), SweepState::kCancelled) << "it is still being read";
  TurnUntil("retry");
  EXPECT_EQ(RetriedOf("retry").queued, kTrials);
  TurnUntil("cancel");
  EXPECT_EQ(CancelledOf("cancel"), kTrials);
}

TEST_F(Errands, OneThatIsForgottenIsKnownAsBefore) {
  CancelAll();
  const auto trials = Known().trials;
  const double planned = Known().work.planned;
  Forget();
  Turn({{"retry", RetryTargets{{kSweep}, true, false, "r", {}, {}}}});
  TurnUntil("retry");
  EXPECT_EQ(RetriedOf("retry").cancelled, kTrials) << "nothing has failed";
  EXPECT_EQ(Known().trials, trials);
  EXPECT_EQ(Known().work.planned, planned);
  EXPECT_THAT(Known().cells, SizeIs(kCells));
  EXPECT_EQ(Known().record.state, SweepState::kCancelled);
}

TEST_F(Errands, RetryOfNoSweepSaysSo) {
  Turn({{"retry", Retry({SweepId{7}})}});
  EXPECT_EQ(answers_.at("retry").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(Errands, TargetsOfOneRetryAreCountedOnce) {
  CancelAll();
  Turn({{"retry", Retry({CellId{kSweep, 2}, Trial(1, 2, 0), kSweep})}});
  TurnUntil("retry");
  EXPECT_EQ(RetriedOf("retry", 0).queued, 2);
  EXPECT_EQ(RetriedOf("retry", 1).queued, 0);
  EXPECT_EQ(RetriedOf("retry", 2).queued, kTrials - 2);
  EXPECT_EQ(Count(TrialState::kCancelled), 0);
}

TEST_F(Errands, CellOfManySeedsIsCancelledAlone) {
  Turn({{"submit 2",
         SubmitSweep{MakeSweep(2, 20, 2, "seeds"), 0, "s2", false, {}, {}}}});
  TurnUntil("submit 2");
  Turn({{"cancel", Cancel(CellId{{2}, 1})}});
  EXPECT_FALSE(answers_.contains("cancel"));
  TurnUntil("cancel");
  EXPECT_EQ(CancelledOf("cancel"), 20);
  const auto contents = *store_.LoadSweep({2});
  for (const storage::TrialRecord& trial : contents.trials) {
    EXPECT_EQ(trial.state, trial.id.cell.number == 1 ? TrialState::kCancelled
                                                     : TrialState::kQueued);
  }
  EXPECT_EQ(contents.sweep.state, SweepState::kActive);
}

TEST_F(Errands, WhoWaitsIsToldWhenTheDiskRefuses) {
  Turn({{"cancel", Cancel()}});
  store_.failures = 1;
  store_.failure = absl::UnavailableError("no space left on device");
  Turn({{"pause", PauseSweep{kSweep, false, "p", {}}}});
  Turn();
  EXPECT_EQ(answers_.at("cancel").status().code(),
            absl::StatusCode::kUnavailable);
  now_.steady += std::chrono::seconds(1);
  Turn({{"again", Cancel()}});
  TurnUntil("again");
  EXPECT_EQ(CancelledOf("again"), kTrials);
  EXPECT_EQ(State(), SweepState::kCancelled);
}

TEST_F(Errands, WhoWaitsIsToldOfTheEnd) {
  CancelAll();
  Forget();
  Turn({{"retry", Retry()}});
  Turn({{"cancel", Cancel(kSweep, "c2")}});
  cycle_->Abandon(absl::UnavailableError("the coordinator is ending"));
  for (const std::string name : {"retry", "cancel"}) {
    EXPECT_EQ(answers_.at(name).status().code(),
              absl::StatusCode::kUnavailable);
  }
}

TEST_F(StoppedErrands, LimitOfFailuresStopsMuchInParts) {
  Begin([](storage::SweepRecord& sweep) { sweep.failure_limit = 1; });
  Turn({{"failure", Refused(AttemptOf(1, 1, 1))}});
  EXPECT_THAT(sessions_.All<EndedAckOrder>(), SizeIs(1));
  EXPECT_GT(Count(TrialState::kQueued), 0);
  EXPECT_THAT(WaitsFor(kCells), testing::HasSubstr("it is being stopped: "));
  Restart();
  Turn({{"agent", Register()}});
  TurnUntilDone();
  EXPECT_EQ(Count(TrialState::kFailed), 1);
  EXPECT_EQ(Count(TrialState::kCancelled), kTrials - 1);
  EXPECT_EQ(State(), SweepState::kComplete);
  EXPECT_THAT(sessions_.All<StartOrder>(), IsEmpty());
  EXPECT_THAT(store_.LoadSweep(kSweep)->trials.back().reason,
              testing::HasSubstr("never began: limits.failures is 1"));
}

TEST_F(StoppedErrands, WhatRunsFinishesWhileTheRestIsCancelledInParts) {
  Begin([](storage::SweepRecord& sweep) {
    sweep.failure_limit = 1;
    sweep.on_failures = OnFailures::kFinish;
  });
  NodeRegistered other = std::get<NodeRegistered>(Register());
  other.session = {2};
  other.node = "m";
  Turn({{"other", other}});
  ASSERT_THAT(sessions_.All<StartOrder>(), SizeIs(2));
  Turn({{"failure", Refused(AttemptOf(1, 1, 1))}});
  TurnUntilDone();
  EXPECT_EQ(Count(TrialState::kLeased), 1);
  EXPECT_EQ(Count(TrialState::kCancelled), kTrials - 2);
  EXPECT_THAT(sessions_.All<StartOrder>(), SizeIs(2));
}

TEST_F(StoppedErrands, RetryUnderWayLiftsTheStopOfAFailureMeanwhile) {
  Begin([](storage::SweepRecord& sweep) { sweep.failure_limit = 1; });
  CancelAll();
  Turn({{"first", Retry({Trial(1, 1, 0)}, "r0")}});
  ASSERT_THAT(sessions_.All<StartOrder>(), SizeIs(2));
  Turn({{"retry", Retry()}});
  Turn({{"failure", Refused(AttemptOf(1, 1, 2))}});
  TurnUntil("retry");
  TurnUntilDone();
  EXPECT_EQ(Count(TrialState::kCancelled), 0);
  EXPECT_EQ(State(), SweepState::kActive);
  EXPECT_EQ(store_.FindSweep(kSweep)->value().stopped_because, "");
}

}  // namespace
}  // namespace leadline::control
