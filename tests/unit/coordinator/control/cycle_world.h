// A cycle of control on a store in memory, turned by hand: its clock moves when
// told, what agents are told is kept, and answers are noted under names.

#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "control_world.h"
#include "coordinator/control/commit_cycle.h"
#include "faulty_store.h"

namespace leadline::control {

class KeptOrders final : public EffectSink {
 public:
  void Deliver(const AgentOrder& order) override { orders.push_back(order); }
  void CloseAllSessions(const absl::Status&) override {}
  bool IsWatched(SweepId) override { return false; }
  void Publish(const ProgressReport&) override {}

  template <typename Kind>
  std::vector<Kind> All() const {
    Outcome outcome;
    outcome.orders = orders;
    return Orders<Kind>(outcome);
  }

  std::vector<AgentOrder> orders;
};

class CycleWorld : public testing::Test {
 protected:
  /// A new coordinator upon the store; `options` but for the clock.
  void Open(CommitCycleOptions options) {
    cycle_.reset();
    options.now = [this] { return now_; };
    auto cycle =
        CommitCycle::Start(std::move(options), store_, sessions_, log_);
    ASSERT_TRUE(cycle.ok()) << cycle.status();
    cycle_ = *std::move(cycle);
  }

  /// One turn, in which these arrive.
  void Turn(std::vector<std::pair<std::string, Command>> commands = {}) {
    std::deque<Envelope> arrived;
    for (auto& [name, command] : commands) {
      arrived.push_back({std::move(command), [this, name](const auto& answer) {
                           answered_.push_back(name);
                           answers_[name] = answer;
                         }});
    }
    cycle_->Turn(std::move(arrived));
  }
  void TurnUntil(const std::string& name) {
    for (int i = 0; i < 20 && !answers_.contains(name); ++i) Turn();
    ASSERT_TRUE(answers_.contains(name));
  }

  /// Of node "n" with one slot, in session 1.
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
  KeptOrders sessions_;
  NoLog log_;
  std::unique_ptr<CommitCycle> cycle_;
  std::vector<std::string> answered_;
  std::map<std::string, absl::StatusOr<Answer>> answers_;
};

}  // namespace leadline::control
