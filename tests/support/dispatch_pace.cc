// dispatch_pace TRIALS AGENTS
//
// Control on a record in memory hands a sweep of that many trials to agents
// that finish each at once. Prints how long the first orders took, and what a
// result and an end cost at the beginning and at the end, in microseconds, as
// JSON. What bench/dispatch.py runs.

#include <chrono>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/coordinator/control/control_world.h"

namespace leadline::control {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Pace {
 public:
  Pace(int64_t trials, int64_t agents) : trials_(trials), agents_(agents) {}

  void Run() {
    const auto begin = Clock::now();
    world_.Submit(MakeSweep(trials_, 1, 1));
    for (int64_t agent = 1; agent <= agents_; ++agent) {
      Take(world_.Register(agent, "node-" + std::to_string(agent), 1, {},
                           "i" + std::to_string(agent)));
      if (agent == 1) first_ = SecondsSince(begin);
    }
    for (; !running_.empty(); running_.pop_front()) {
      const auto start = Clock::now();
      Finish(running_.front().first, running_.front().second);
      seconds_.push_back(SecondsSince(start));
    }
    const auto start = Clock::now();
    world_.Do(Tick{});
    tick_ = SecondsSince(start);
  }

  void Print() const {
    std::cout << "{\"trials\": " << seconds_.size()
              << ", \"first_order_seconds\": " << first_
              << ", \"first_tenth_us\": " << MeanOf(0)
              << ", \"last_tenth_us\": " << MeanOf(9)
              << ", \"tick_with_all_ended_us\": " << tick_ * 1e6 << "}\n";
  }

 private:
  void Take(const Outcome& outcome) {
    for (const AgentOrder& order : outcome.orders) {
      if (const auto* start = std::get_if<StartOrder>(&order.order)) {
        running_.emplace_back(order.session.value, start->attempt);
      }
    }
  }

  void Finish(int64_t agent, const AttemptKey& attempt) {
    Take(world_.Send(agent, attempt, {ResultOf(1, 0, 0, 1.0)}));
    Take(world_.End(agent, attempt));
  }

  double MeanOf(size_t tenth) const {
    const size_t each = seconds_.size() / 10;
    double sum = 0;
    for (size_t i = 0; i < each; ++i) sum += seconds_[tenth * each + i];
    return each == 0 ? 0 : sum / static_cast<double>(each) * 1e6;
  }

  const int64_t trials_;
  const int64_t agents_;
  World world_;
  std::deque<std::pair<int64_t, AttemptKey>> running_;
  std::vector<double> seconds_;
  double first_ = 0;
  double tick_ = 0;
};

}  // namespace
}  // namespace leadline::control

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: dispatch_pace TRIALS AGENTS\n";
    return 2;
  }
  leadline::control::Pace pace(std::atoll(argv[1]), std::atoll(argv[2]));
  pace.Run();
  pace.Print();
  return 0;
}
