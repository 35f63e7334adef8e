// Control against agents that lose, double and delay what they say, and a
// coordinator that is killed: whatever happens, each planned trial ends once,
// no device serves two attempts, and when the faults stop the work gets done.

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "control_world.h"

namespace leadline::control {
namespace {

/// A trainer as far as its agent knows.
struct Trainer {
  std::vector<int64_t> seeds;
  std::vector<std::string> devices;
  int64_t written = 0;  // lines of its event file
  int64_t sent = 0;
  bool done = false;
};

/// An agent that keeps its event files through losses of its stream.
struct Agent {
  std::string name;
  std::string instance = "i0";
  int64_t session = 0;  // 0: not connected
  std::map<AttemptKey, Trainer> trainers;
};

class Chaos {
 public:
  /// `most_moves`: that one step makes for people.
  Chaos(uint32_t seed, int64_t most_moves)
      : random_(seed), world_(PolicyWith(most_moves)) {
    for (int i = 0; i < 3; ++i) {
      agents_.push_back({"n" + std::to_string(i), "i0", 0, {}});
    }
    world_.Submit(MakeSweep(4, 3, 2, "a"), "r1");
    NewSweep limited = MakeSweep(3, 2, 1, "b");
    limited.sweep.parallel_limit = 2;
    world_.Submit(std::move(limited), "r2");
  }

  void Fault() {
    Agent& agent = agents_[Below(agents_.size())];
    switch (Below(14)) {
      case 0:
        return Lose(agent);
      case 1:
        return Crash(agent);
      case 2:
        world_.Restart();
        for (Agent& other : agents_) other.session = 0;
        return;
      case 3:
        return Hear(world_.Wait(Seconds{static_cast<double>(Below(60))}));
      case 4:
        return FailOne(agent);
      case 5:
        return Repeat();
      case 6:
        return Stray(agent);
      case 7:
        return ChangeMind();
      default:
        return Work(agent);
    }
  }

  /// People pause, resume, cancel and retry.
  void ChangeMind() {
    const SweepId sweep{1 + static_cast<int64_t>(Below(2))};
    if (IsBusy(world_.control().state(), sweep)) return;
    switch (Below(5)) {
      case 0:
        return Hear(world_.Do(PauseSweep{
            sweep, Below(2) == 0, "p" + std::to_string(++requests_), {}}));
      case 1:
        return Resume(sweep);
      case 2:
        return Hear(world_.Do(
            CancelTarget{Trial(sweep.value, 1 + static_cast<int64_t>(Below(3)),
                               static_cast<int64_t>(Below(2))),
                         "c" + std::to_string(++requests_),
                         {}}));
      case 3:
        if (Below(4) > 0) return;
        return Hear(world_.Do(
            CancelTarget{sweep, "c" + std::to_string(++requests_), {}}));
      default:
        return RetryAll(sweep);
    }
  }

  void Resume(SweepId sweep) {
    Hear(world_.Do(ResumeSweep{sweep, "q" + std::to_string(++requests_), {}}));
  }

  void RetryAll(SweepId sweep) {
    Hear(world_.Do(RetryTargets{
        {sweep}, true, true, "t" + std::to_string(++requests_), {}, {}}));
  }

  void Work(Agent& agent) {
    Hear(world_.Do(CarryOn{}));
    if (agent.session == 0) Connect(agent);
    Beat(agent);
    std::vector<AttemptKey> keys;
    for (const auto& [key, trainer] : agent.trainers) keys.push_back(key);
    for (const AttemptKey& key : keys) Advance(agent, key);
    Hear(world_.Wait(Seconds{1}));
    CheckDevices();
  }

  void Settle() {
    world_.CarryOut();
    for (const int64_t sweep : {1, 2}) {
      RetryAll(SweepId{sweep});
      world_.CarryOut();
      Resume(SweepId{sweep});
    }
    for (int round = 0; round < 600 && !AllEnded(); ++round) {
      for (Agent& agent : agents_) Work(agent);
    }
  }

  bool AllEnded() {
    return world_.StateOf(SweepId{1}) == SweepState::kComplete &&
           world_.StateOf(SweepId{2}) == SweepState::kComplete;
  }

  World& world() { return world_; }

 private:
  size_t Below(size_t n) { return random_() % n; }

  static Policy PolicyWith(int64_t most_moves) {
    Policy policy;
    policy.most_moves = most_moves;
    return policy;
  }

  void Connect(Agent& agent) {
    agent.session = ++last_session_;
    std::vector<HeldAttempt> held;
    for (const auto& [key, trainer] : agent.trainers) {
      held.push_back({key, trainer.devices});
    }
    const Outcome outcome = world_.Register(agent.session, agent.name, 2,
                                            std::move(held), agent.instance);
    for (const WelcomeOrder& welcome : Orders<WelcomeOrder>(outcome)) {
      for (const auto& [key, sequence] : welcome.acknowledged) {
        agent.trainers.at(key).sent = sequence;
      }
      for (const AttemptKey& key : welcome.superseded) {
        Hear(world_.End(agent.session, key, FailureKind::kCrash));
        agent.trainers.erase(key);
      }
    }
    Hear(outcome);
  }

  void Beat(Agent& agent) {
    Heartbeat beat{{agent.session}, ++beats_, {}};
    for (const auto& [key, trainer] : agent.trainers) {
      beat.attempts.push_back(key);
    }
    Hear(world_.Do(beat));
  }

  /// Orders go to the agents; some are lost with the stream that bore them.
  void Hear(const Outcome& outcome) {
    for (const AgentOrder& order : outcome.orders) {
      for (Agent& agent : agents_) {
        if (agent.session != order.session.value) continue;
        if (const auto* start = std::get_if<StartOrder>(&order.order)) {
          EXPECT_TRUE(agent.trainers
                          .emplace(start->attempt,
                                   Trainer{start->seeds, start->devices})
                          .second);
        }
        if (const auto* stop = std::get_if<StopOrder>(&order.order)) {
          stopped_.emplace_back(&agent, stop->attempt);
        }
        if (std::get_if<CloseOrder>(&order.order)) Lose(agent);
      }
    }
    for (auto& [agent, key] : std::exchange(stopped_, {})) {
      if (agent->session == 0 || agent->trainers.erase(key) == 0) continue;
      Hear(world_.End(agent->session, key, FailureKind::kCrash));
    }
  }

  void Advance(Agent& agent, const AttemptKey& key) {
    if (agent.session == 0) return;
    const auto at = agent.trainers.find(key);
    if (at == agent.trainers.end()) return;
    Trainer& trainer = at->second;
    const int64_t lines = 3 + std::ssize(trainer.seeds);
    std::vector<TrainerRecord> records;
    for (int64_t s = trainer.sent + 1; s <= lines; ++s) {
      records.push_back(Line(trainer, s));
      if (Below(3) == 0) break;
    }
    if (!records.empty()) {
      trainer.sent = records.back().sequence;
      Hear(world_.Send(agent.session, key, records));
      if (Below(4) == 0) {
        Hear(world_.Send(agent.session, key, std::move(records)));
      }
    } else {
      agent.trainers.erase(at);
      Hear(world_.End(agent.session, key));
    }
  }

  static TrainerRecord Line(const Trainer& trainer, int64_t sequence) {
    if (sequence <= 3) {
      return StepAt(sequence, sequence * 3, std::ssize(trainer.seeds));
    }
    const int64_t replica = sequence - 4;
    const int64_t seed = trainer.seeds.at(replica);
    if (seed == 1) return DivergenceOf(sequence, replica, seed);
    return ResultOf(sequence, replica, seed, 1.0 + static_cast<double>(seed));
  }

  void Lose(Agent& agent) {
    if (agent.session == 0) return;
    const int64_t session = std::exchange(agent.session, 0);
    Hear(world_.Do(NodeLost{{session}}));
  }

  /// The agent dies and its trainers with it.
  void Crash(Agent& agent) {
    Lose(agent);
    agent.trainers.clear();
    agent.instance = "i" + std::to_string(++instances_);
  }

  void FailOne(Agent& agent) {
    if (agent.session == 0 || agent.trainers.empty()) return;
    const AttemptKey key = agent.trainers.begin()->first;
    agent.trainers.erase(key);
    Hear(world_.End(agent.session, key,
                    Below(6) == 0 ? FailureKind::kOom : FailureKind::kCrash));
  }

  void Repeat() {
    EXPECT_EQ(world_.Submit(MakeSweep(4, 3, 2, "a"), "r1"), SweepId{1});
    EXPECT_EQ(world_.Submit(MakeSweep(4, 3, 2, "a"), "r9"), SweepId{1});
  }

  /// What a confused or hostile agent may say.
  void Stray(Agent& agent) {
    const AttemptKey key =
        AttemptOf(1 + Below(3), Below(5), 1 + Below(4), Below(2));
    if (agent.trainers.contains(key)) return;
    const int64_t session = Below(2) ? agent.session : 9'999'999;
    for (const Agent& other : agents_) {
      if (other.trainers.contains(key)) return;
    }
    Hear(world_.Send(session, key, {ResultOf(1, 0, 0, 0.0)}));
  }

  void CheckDevices() {
    for (const auto& [name, node] : world_.control().state().nodes) {
      std::set<std::string> taken;
      for (const auto& [key, devices] : node.held) {
        for (const std::string& device : devices) {
          ASSERT_TRUE(taken.insert(device).second)
              << device << " of " << name << " serves two attempts";
        }
      }
    }
  }

  std::mt19937 random_;
  World world_;
  std::vector<Agent> agents_;
  std::vector<std::pair<Agent*, AttemptKey>> stopped_;
  int64_t last_session_ = 0;
  int64_t beats_ = 0;
  int64_t instances_ = 0;
  int64_t requests_ = 0;
};

TEST(ControlPropertyTest, EveryTrialEndsOnceWhateverHappens) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    // Every other seed does in parts what concerns many trials.
    Chaos chaos(seed, seed % 2 == 0 ? 2000 : 2);
    for (int i = 0; i < 120; ++i) chaos.Fault();
    chaos.Settle();
    ASSERT_TRUE(chaos.AllEnded());
    for (const int64_t sweep : {1, 2}) {
      const auto trials = *chaos.world().reader().ListTrials(
          SweepId{sweep}, std::nullopt, std::nullopt, 1000);
      EXPECT_EQ(trials.size(), sweep == 1 ? 12u : 6u);
      for (const storage::TrialRow& row : trials) {
        EXPECT_TRUE(IsEnded(row.trial.state));
        const auto result = *chaos.world().reader().FindResult(row.trial.id);
        EXPECT_EQ(result.has_value(),
                  row.trial.state == TrialState::kSucceeded);
        if (result) {
          EXPECT_EQ(result->validation_loss,
                    1.0 + static_cast<double>(row.trial.seed));
        }
        if (row.trial.seed == 1) {
          EXPECT_NE(row.trial.state, TrialState::kSucceeded);
        }
      }
    }
    EXPECT_TRUE(chaos.world().control().state().live.empty());
  }
}

}  // namespace
}  // namespace leadline::control
