// submit_pace TRIALS SEEDS DATABASE
//
// A sweep of that many trials is submitted to the turns of control on a
// database, beside agents that speak at every turn; then people pause it,
// resume it, cancel it, queue it again while it is in memory and when it no
// longer is; at last a limit of failures stops it, and it is removed. Prints
// how long its planning took, which holds nobody up, and of each command how
// long it took, in how many turns, and the longest of these and of the ticks
// after it, in seconds, as JSON. What bench/dispatch.py runs.

#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>

#include "coordinator/rpc/plan_request.h"
#include "coordinator/rpc/sweep_convert.h"
#include "tests/support/grid_text.h"
#include "tests/support/paced_turns.h"

namespace leadline {
namespace {

constexpr SweepId kSweep{1};
constexpr std::chrono::milliseconds kAfterwards{1000};
constexpr std::chrono::milliseconds kUntilForgotten{12'000};

class Pace {
 public:
  explicit Pace(const std::string& database) : turns_(database) {}

  void Submit(control::SubmitSweep submit) {
    const test::Paced paced = turns_.Do(std::move(submit));
    std::cout << ", \"submit_seconds\": " << paced.answered
              << ", \"turns\": " << paced.turns
              << ", \"last_turn_seconds\": " << paced.last
              << ", \"median_turn_seconds\": " << paced.median
              << ", \"longest_turn_seconds\": " << paced.longest
              << ", \"commands\": {";
    turns_.Pass(kAfterwards);
  }

  void Ask() {
    Say("pause", turns_.Do(control::PauseSweep{kSweep, true, Request(), {}}));
    Say("resume", turns_.Do(control::ResumeSweep{kSweep, Request(), {}}));
    Say("cancel", Cancel());
    Say("retry", Retry());
    Say("cancel_again", Cancel());
    Begin("forget");
    std::cout << "\"longest_turn_seconds\": " << turns_.Pass(kUntilForgotten)
              << "}";
    Say("retry_of_one_forgotten", Retry());
    Say("failure_that_stops_it", turns_.FailOne());
    Say("rm",
        turns_.Do(control::RemoveTargets{{kSweep}, false, Request(), {}, {}}));
    std::cout << "}";
  }

 private:
  std::string Request() { return "r" + std::to_string(++requests_); }

  test::Paced Cancel() {
    return turns_.Do(control::CancelTarget{kSweep, Request(), {}});
  }

  test::Paced Retry() {
    return turns_.Do(
        control::RetryTargets{{kSweep}, true, true, Request(), {}, {}});
  }

  void Begin(const char* command) {
    std::cout << (is_first_ ? "" : ", ") << "\"" << command << "\": {";
    is_first_ = false;
  }

  void Say(const char* command, const test::Paced& paced) {
    Begin(command);
    std::cout << "\"answered_seconds\": " << paced.answered
              << ", \"turns\": " << paced.turns
              << ", \"longest_turn_seconds\": " << paced.longest
              << ", \"longest_tick_after_seconds\": "
              << turns_.Pass(kAfterwards) << "}";
  }

  test::PacedTurns turns_;
  int64_t requests_ = 0;
  bool is_first_ = true;
};

void Run(int64_t trials, int64_t seeds, const std::string& database) {
  v1::SubmitRequest request;
  request.set_text(test::GridText("study", trials, seeds));
  request.set_file("sweep.yaml");
  request.set_base_folder("/");
  const auto begin = test::PaceClock::now();
  control::SubmitSweep submit;
  {
    const rpc::Planned planned = rpc::PlanRequest(request, true, {});
    if (!planned.status.ok()) {
      throw std::runtime_error(planned.status.error_message());
    }
    submit.sweep = rpc::ToNewSweep(planned.sweep, planned.plan, request);
  }
  submit.sweep.sweep.failure_limit = 1;
  submit.request_id = "submit";
  std::cout << "{\"trials\": " << trials << ", \"seeds\": " << seeds
            << ", \"planning_seconds\": " << test::SecondsSince(begin);
  Pace pace(database);
  pace.Submit(std::move(submit));
  pace.Ask();
  std::cout << "}\n";
}

}  // namespace
}  // namespace leadline

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: submit_pace TRIALS SEEDS DATABASE\n";
    return 2;
  }
  leadline::Run(std::atoll(argv[1]), std::atoll(argv[2]), argv[3]);
  return 0;
}
