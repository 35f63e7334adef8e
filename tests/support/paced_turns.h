// Turns of control on a database, each timed, beside 64 agents that speak at
// every one and end what they are told to.

#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "coordinator/control/commit_cycle.h"
#include "coordinator/control/errands.h"
#include "storage/open.h"

namespace leadline::test {

using PaceClock = std::chrono::steady_clock;

inline double SecondsSince(PaceClock::time_point begin) {
  return std::chrono::duration<double>(PaceClock::now() - begin).count();
}

/// How long a command took until it was answered, and its turns, in seconds.
struct Paced {
  double answered = 0;
  int64_t turns = 0;
  double last = 0;
  double median = 0;
  double longest = 0;
};

class PacedTurns final : public control::EffectSink {
 public:
  /// Throws if the database cannot be opened.
  explicit PacedTurns(const std::string& database)
      : store_(Take(storage::OpenSqliteStore(database))) {
    control::CommitCycleOptions options;
    options.now = [this] {
      return control::Moment{
          PaceClock::now() + passed_,
          std::chrono::time_point_cast<storage::WallTime::duration>(
              std::chrono::system_clock::now())};
    };
    cycle_ = Take(control::CommitCycle::Start(std::move(options), *store_.store,
                                              *this, log_));
    for (int64_t agent = 1; agent <= kAgents; ++agent) {
      Post(Registration(agent));
    }
    Turn();
  }

  /// Throws if the answer is an error.
  Paced Do(control::Command command) {
    const auto begin = PaceClock::now();
    bool answered = false;
    arrived_.push_back({std::move(command), [&](const auto& answer) {
                          Take(answer);
                          answered = true;
                        }});
    std::vector<double> turns;
    while (!answered) turns.push_back(Turn());
    Paced paced = Sum(std::move(turns));
    paced.answered = SecondsSince(begin);
    return paced;
  }

  /// Turns until that time has passed, one a tick; the longest.
  double Pass(std::chrono::milliseconds time) {
    double longest = 0;
    constexpr std::chrono::milliseconds kTick{250};
    for (; time.count() > 0; time -= kTick) {
      passed_ += kTick;
      longest = std::max(longest, Turn());
    }
    return longest;
  }

  /// Some attempt cannot be trained, as its agent finds; until all that follows
  /// is done.
  Paced FailOne() {
    const auto begin = PaceClock::now();
    const auto [session, key] = running_.front();
    running_.pop_front();
    Post(control::AttemptRefused{session, key, FailureKind::kConfig,
                                 "no such setting"});
    std::vector<double> turns = {Turn()};
    while (control::HasErrands(cycle_->control().state())) {
      turns.push_back(Turn());
    }
    Paced paced = Sum(std::move(turns));
    paced.answered = SecondsSince(begin);
    return paced;
  }

  void Deliver(const control::AgentOrder& order) override {
    if (const auto* start = std::get_if<control::StartOrder>(&order.order)) {
      running_.emplace_back(order.session, start->attempt);
    }
    if (const auto* stop = std::get_if<control::StopOrder>(&order.order)) {
      std::erase(running_, std::pair(order.session, stop->attempt));
      control::AttemptEnded ended;
      ended.session = order.session;
      ended.attempt = stop->attempt;
      Post(std::move(ended));
    }
  }
  void CloseAllSessions(const absl::Status& status) override { Check(status); }
  bool IsWatched(SweepId) override { return true; }
  void Publish(const control::ProgressReport&) override {}

 private:
  static constexpr int64_t kAgents = 64;

  static void Check(const absl::Status& status) {
    if (!status.ok()) throw std::runtime_error(status.ToString());
  }

  template <typename Value>
  static Value Take(absl::StatusOr<Value> value) {
    Check(value.status());
    return *std::move(value);
  }

  static control::NodeRegistered Registration(int64_t agent) {
    control::NodeRegistered node;
    node.session = {agent};
    node.node = "node-" + std::to_string(agent);
    node.instance = "i" + std::to_string(agent);
    node.devices.push_back({"cpu:0", "cpu", 0});
    return node;
  }

  static Paced Sum(std::vector<double> turns) {
    Paced paced;
    paced.turns = std::ssize(turns);
    paced.last = turns.back();
    std::ranges::sort(turns);
    paced.median = turns[turns.size() / 2];
    paced.longest = turns.back();
    return paced;
  }

  void Post(control::Command command) {
    arrived_.push_back({std::move(command), [](const auto&) {}});
  }

  double Turn() {
    ++number_;
    for (int64_t agent = 1; agent <= kAgents; ++agent) {
      control::Heartbeat beat{{agent}, number_, {}};
      for (const auto& [session, key] : running_) {
        if (session == beat.session) beat.attempts.push_back(key);
      }
      Post(std::move(beat));
    }
    const auto begin = PaceClock::now();
    cycle_->Turn(std::exchange(arrived_, {}));
    return SecondsSince(begin);
  }

  storage::StorePair store_;
  NoLog log_;
  std::chrono::milliseconds passed_{};
  std::unique_ptr<control::CommitCycle> cycle_;
  std::deque<control::Envelope> arrived_;
  std::deque<std::pair<control::SessionId, AttemptKey>> running_;
  int64_t number_ = 0;
};

}  // namespace leadline::test
