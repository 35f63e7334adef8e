// dispatch_pace TRIALS AGENTS
//
// Control on a record in memory hands a sweep of that many trials to agents
// that finish each at once. Prints how long the first order took; what a result
// and an end cost while most trials wait and while most have ended, as medians
// in microseconds; how many cohorts and lines of them one such pair looks at;
// and what a tick costs at both times. As JSON. What bench/dispatch.py runs.

#include <algorithm>
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
    tick_at_first_ = TickCost();
    const int64_t looked_at = world_.control().state().looked_at;
    for (; !running_.empty(); running_.pop_front()) {
      const auto start = Clock::now();
      Finish(running_.front().first, running_.front().second);
      seconds_.push_back(SecondsSince(start));
    }
    looked_at_ = world_.control().state().looked_at - looked_at;
    tick_at_last_ = TickCost();
  }

  void Print() const {
    std::cout << "{\"trials\": " << seconds_.size()
              << ", \"first_order_seconds\": " << first_
              << ", \"first_tenth_us\": " << MedianOf(0)
              << ", \"last_tenth_us\": " << MedianOf(9)
              << ", \"looked_at_a_trial\": "
              << static_cast<double>(looked_at_) /
                     static_cast<double>(seconds_.size())
              << ", \"tick_with_most_waiting_us\": " << tick_at_first_ * 1e6
              << ", \"tick_with_all_ended_us\": " << tick_at_last_ * 1e6
              << "}\n";
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

  /// Median of some.
  double TickCost() {
    std::vector<double> seconds;
    for (int i = 0; i < 21; ++i) {
      world_.Pass(Seconds{0.25});
      const auto start = Clock::now();
      world_.Do(Tick{});
      seconds.push_back(SecondsSince(start));
    }
    return Median(std::move(seconds));
  }

  static double Median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle =
        values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  double MedianOf(size_t tenth) const {
    const auto each = static_cast<std::ptrdiff_t>(seconds_.size() / 10);
    const auto first =
        seconds_.begin() + static_cast<std::ptrdiff_t>(tenth) * each;
    return Median({first, first + each}) * 1e6;
  }

  const int64_t trials_;
  const int64_t agents_;
  World world_;
  std::deque<std::pair<int64_t, AttemptKey>> running_;
  std::vector<double> seconds_;
  double first_ = 0;
  int64_t looked_at_ = 0;
  double tick_at_first_ = 0;
  double tick_at_last_ = 0;
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
