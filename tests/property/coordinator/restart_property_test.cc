// A coordinator that is killed at any moment decides what it would have decided
// otherwise: the same script of ends, with and without a restart after each of
// them, gives the same attempts, verdicts and quarantines.

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/random_stream.h"
#include "control_world.h"

namespace leadline::control {
namespace {

constexpr int64_t kCells = 5;
constexpr int kMostEvents = 70;

/// Leases longer than the steps that time takes below.
Policy LongLeases() {
  Policy policy;
  policy.lease = Seconds{100};
  return policy;
}

class Script {
 public:
  Script(uint64_t seed, int restart_after)
      : draws_(seed, "test/ends"),
        restart_after_(restart_after),
        world_(LongLeases()) {
    NewSweep sweep = MakeSweep(kCells, 2, 2);
    if (seed % 3 == 1) sweep.sweep.failure_row_limit = 4;
    if (seed % 3 == 2) sweep.sweep.failure_limit = 6;
    if (seed % 2 == 1) sweep.sweep.on_failures = OnFailures::kFinish;
    world_.Submit(std::move(sweep));
    Register({});
  }

  /// Plays until the sweep has ended; what was decided, as text.
  std::string Play() {
    for (events_ = 0; events_ < kMostEvents; ++events_) {
      const auto& live = world_.control().state().live;
      if (!live.empty()) EndOne(CohortId(*live.begin()));
      if (events_ == restart_after_) Restart();
      LetTimePass();
      Look();
      if (world_.StateOf(SweepId{1}) != SweepState::kActive) break;
    }
    return log_ + Verdicts();
  }

  int events() const { return events_; }

 private:
  const LiveAttempt& Live(const CohortId& id) {
    return *world_.CohortOf(1, id.cell.number, id.number).live;
  }

  /// What the attempt does is a function of its name alone.
  void EndOne(const CohortId& id) {
    const AttemptKey key = Live(id).record.key;
    const auto pick = [&](uint64_t what, uint64_t below) {
      return draws_.Integer(
          static_cast<uint64_t>(key.cohort.cell.number * 1000 + key.number) *
                  10 +
              what,
          below);
    };
    int64_t sequence = 0;
    if (pick(0, 2) == 0) {
      world_.Send(
          session_, key,
          {StepAt(++sequence, 1 + static_cast<int64_t>(pick(1, 10)), 2)});
    }
    if (pick(2, 4) == 0) {
      const auto& trials = world_.CohortOf(1, id.cell.number).trials;
      std::vector<TrainerRecord> records;
      for (int64_t r = 0; r < std::ssize(trials); ++r) {
        records.push_back(ResultOf(++sequence, r, trials[r].seed, 1.0));
      }
      world_.Send(session_, key, std::move(records));
      world_.End(session_, key);
      log_ += ToText(key) + " gave results\n";
      return;
    }
    const FailureKind kind = kFailureKinds[pick(3, kFailureKinds.size())];
    world_.End(session_, key, kind);
    log_ += ToText(key) + " " + std::string(Name(kind)) + "\n";
  }

  void Register(std::vector<HeldAttempt> held) {
    world_.RegisterWith(++session_, "n", {{"cpu:0", "cpu", 1 << 30}},
                        std::move(held));
  }

  void Restart() {
    std::vector<HeldAttempt> held;
    for (const auto& [key, devices] :
         world_.control().state().nodes.at("n").held) {
      held.push_back({key, devices});
    }
    world_.Restart();
    Register(std::move(held));
  }

  /// Longer than any wait of the policy but that of an hour's restarts.
  void LetTimePass() {
    for (int i = 0; i < 10; ++i) {
      Heartbeat beat{{session_}, ++beats_, {}};
      for (const CohortId& id : world_.control().state().live) {
        beat.attempts.push_back(Live(id).record.key);
      }
      world_.Do(beat);
      world_.Pass(Seconds{40});
      world_.Do(Tick{});
    }
  }

  void Look() {
    const storage::NodeRecord& node = world_.NodeOf("n");
    log_ += "node " + std::to_string(node.quarantined) +
            std::to_string(node.undecided) + std::to_string(node.rounds) +
            std::to_string(node.failures.size()) + node.reason + "\n";
  }

  std::string Verdicts() {
    const storage::SweepContents sweep = world_.store().LoadSweep({1}).value();
    std::string text = sweep.sweep.stopped_because + "\n";
    for (const storage::CohortRecord& cohort : sweep.cohorts) {
      const int64_t cell = cohort.id.cell.number;
      text += ToText(cohort.id) + " " + std::to_string(cohort.failures) + " " +
              std::to_string(cohort.failures_in_row) + " " +
              std::to_string(cohort.furthest_step) + " " +
              std::to_string(cohort.spared) + "\n";
      for (int64_t seed = 0; seed < 2; ++seed) {
        const TrialId trial = Trial(1, cell, seed);
        text += std::string(Name(world_.StateOf(trial))) + " " +
                world_.ReasonOf(trial) + "\n";
      }
    }
    return text;
  }

  RandomStream draws_;
  int restart_after_;
  World world_;
  int64_t session_ = 0;
  int64_t beats_ = 0;
  int events_ = 0;
  std::string log_;
};

TEST(RestartProperty, ChangesNoDecision) {
  int events = 0;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    Script straight(seed, -1);
    const std::string expected = straight.Play();
    EXPECT_LT(straight.events(), kMostEvents) << expected;
    events += straight.events();
    for (int at = 0; at <= straight.events(); ++at) {
      Script restarted(seed, at);
      ASSERT_EQ(restarted.Play(), expected)
          << "seed " << seed << ", restarted after event " << at;
    }
  }
  EXPECT_GT(events, 24 * 8);
}

}  // namespace
}  // namespace leadline::control
