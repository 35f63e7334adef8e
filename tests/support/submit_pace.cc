// submit_pace TRIALS SEEDS DATABASE
//
// A sweep of that many trials is submitted to the turns of control on a
// database, beside 64 agents that speak at every turn. Prints how long its
// planning took, which holds nobody up, how long the submission took, in how
// many turns, and the longest of these, in seconds, as JSON. What
// bench/dispatch.py runs.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/control/commit_cycle.h"
#include "coordinator/rpc/plan_request.h"
#include "coordinator/rpc/sweep_convert.h"
#include "storage/open.h"
#include "tests/support/grid_text.h"

namespace leadline {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kAgents = 64;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class NoAgents final : public control::EffectSink {
 public:
  void Deliver(const control::AgentOrder&) override {}
  void CloseAllSessions(const absl::Status&) override {}
  bool IsWatched(SweepId) override { return false; }
  void Publish(const control::ProgressReport&) override {}
};

control::NodeRegistered Registration(int64_t agent) {
  control::NodeRegistered node;
  node.session = {agent};
  node.node = "node-" + std::to_string(agent);
  node.instance = "i" + std::to_string(agent);
  node.devices.push_back({"cpu:0", "cpu", 0});
  return node;
}

class Pace {
 public:
  explicit Pace(control::CommitCycle& cycle) : cycle_(cycle) {}

  void Connect() {
    std::deque<control::Envelope> arrived;
    for (int64_t agent = 1; agent <= kAgents; ++agent) {
      arrived.push_back({Registration(agent), [](const auto&) {}});
    }
    cycle_.Turn(std::move(arrived));
  }

  void Submit(control::SubmitSweep submit) {
    const auto begin = Clock::now();
    bool answered = false;
    std::deque<control::Envelope> arrived;
    arrived.push_back({std::move(submit), [&](const auto& answer) {
                         if (!answer.ok()) {
                           throw std::runtime_error(
                               std::string(answer.status().message()));
                         }
                         answered = true;
                       }});
    for (int64_t number = 1; !answered; ++number) {
      for (int64_t agent = 1; agent <= kAgents; ++agent) {
        arrived.push_back(
            {control::Heartbeat{{agent}, number, {}}, [](const auto&) {}});
      }
      const auto turn = Clock::now();
      cycle_.Turn(std::exchange(arrived, {}));
      turns_.push_back(SecondsSince(turn));
    }
    took_ = SecondsSince(begin);
  }

  void Print(int64_t trials, int64_t seeds, double planning) {
    std::cout << "{\"trials\": " << trials << ", \"seeds\": " << seeds
              << ", \"planning_seconds\": " << planning
              << ", \"submit_seconds\": " << took_
              << ", \"turns\": " << turns_.size()
              << ", \"last_turn_seconds\": " << turns_.back();
    std::ranges::sort(turns_);
    std::cout << ", \"median_turn_seconds\": " << turns_[turns_.size() / 2]
              << ", \"longest_turn_seconds\": " << turns_.back() << "}\n";
  }

 private:
  control::CommitCycle& cycle_;
  std::vector<double> turns_;
  double took_ = 0;
};

void Run(int64_t trials, int64_t seeds, const std::string& database) {
  v1::SubmitRequest request;
  request.set_text(test::GridText("study", trials, seeds));
  request.set_file("sweep.yaml");
  request.set_base_folder("/");
  const auto begin = Clock::now();
  control::SubmitSweep submit;
  {
    const rpc::Planned planned = rpc::PlanRequest(request, true, {});
    if (!planned.status.ok()) {
      throw std::runtime_error(planned.status.error_message());
    }
    submit.sweep = rpc::ToNewSweep(planned.sweep, planned.plan, request);
  }
  submit.request_id = "r";
  const double planning = SecondsSince(begin);
  auto store = storage::OpenSqliteStore(database);
  if (!store.ok()) throw std::runtime_error(store.status().ToString());
  NoAgents agents;
  NoLog log;
  control::CommitCycleOptions options;
  options.now = [] {
    return control::Moment{
        Clock::now(), std::chrono::time_point_cast<storage::WallTime::duration>(
                          std::chrono::system_clock::now())};
  };
  auto cycle = control::CommitCycle::Start(std::move(options), *store->store,
                                           agents, log);
  if (!cycle.ok()) throw std::runtime_error(cycle.status().ToString());
  Pace pace(**cycle);
  pace.Connect();
  pace.Submit(std::move(submit));
  pace.Print(trials, seeds, planning);
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
