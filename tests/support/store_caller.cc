// store_calls ADDRESS CALLS SWEEPS LARGE
//
// Asks a coordinator over a database of fill_store what people ask, CALLS times
// each, and prints the milliseconds of every call as JSON. The sweeps are 1 (of
// LARGE cells) to SWEEPS (of 200).

#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <nlohmann/json.hpp>

#include "leadline/v1/results_service.grpc.pb.h"
#include "leadline/v1/sweep_service.grpc.pb.h"

namespace leadline {
namespace {

class Caller {
 public:
  Caller(const std::string& address, int64_t calls, int64_t sweeps,
         int64_t large)
      : calls_(calls), sweeps_(sweeps), large_(large) {
    const auto channel =
        grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
    results_stub_ = v1::ResultsService::NewStub(channel);
    sweeps_stub_ = v1::SweepService::NewStub(channel);
  }

  nlohmann::ordered_json All() {
    Time("ls", [this](auto* call) {
      v1::ListSweepsRequest request;
      request.set_limit(20);
      v1::ListSweepsReply reply;
      return results_stub_->ListSweeps(call, request, &reply);
    });
    Time("ls_trials_of_a_sweep",
         [this](auto* call) { return Trials(call, Sweep(), ""); });
    Time("ls_trials_of_the_largest_sweep",
         [this](auto* call) { return Trials(call, "s1", ""); });
    Time("ls_failed_trials",
         [this](auto* call) { return Trials(call, Sweep(), "crash"); });
    Time("show", [this](auto* call) {
      v1::TrialRequest request;
      request.set_trial(Trial());
      v1::ShowTrialReply reply;
      return results_stub_->ShowTrial(call, request, &reply);
    });
    Time("show_routing", [this](auto* call) {
      v1::RoutingRequest request;
      request.set_trial(TrainedTrial());
      v1::RoutingReply reply;
      return results_stub_->Routing(call, request, &reply);
    });
    Time("curve", [this](auto* call) { return Curve(call, Trial()); });
    Time("curve_of_5000_steps",
         [this](auto* call) { return Curve(call, "s2.1.0"); });
    Time("results", [this](auto* call) { return Results(call, Sweep()); });
    Time(
        "results_of_the_largest_sweep",
        [this](auto* call) { return Results(call, "s1"); }, calls_ / 20);
    Time("explain_trial",
         [this](auto* call) { return Explain(call, Trial()); });
    Time("explain_sweep",
         [this](auto* call) { return Explain(call, Sweep()); });
    Time("explain_the_largest_sweep",
         [this](auto* call) { return Explain(call, "s1"); });
    return times_;
  }

 private:
  using Call = std::function<grpc::Status(grpc::ClientContext*)>;
  using Clock = std::chrono::steady_clock;

  void Time(const char* name, const Call& call, int64_t calls = 0) {
    std::vector<double> times;
    for (int64_t i = 0; i < (calls > 0 ? calls : calls_); ++i) {
      grpc::ClientContext context;
      const auto begin = Clock::now();
      const grpc::Status status = call(&context);
      const std::chrono::duration<double, std::milli> took =
          Clock::now() - begin;
      if (!status.ok()) {
        std::cerr << name << ": " << status.error_message() << '\n';
        std::exit(1);
      }
      times.push_back(took.count());
    }
    times_[name] = times;
  }

  int64_t Draw(int64_t first, int64_t last) {
    return std::uniform_int_distribution<int64_t>(first, last)(chance_);
  }

  std::string Sweep() { return "s" + std::to_string(Draw(2, sweeps_)); }

  /// Of the largest sweep, every second time.
  std::string Trial() {
    const bool large = Draw(0, 1) == 0;
    return (large ? "s1" : Sweep()) + "." +
           std::to_string(Draw(1, large ? large_ : 200)) + "." +
           std::to_string(Draw(0, 4));
  }

  std::string TrainedTrial() {
    return Sweep() + "." + std::to_string(Draw(1, 90)) + ".0";
  }

  grpc::Status Trials(grpc::ClientContext* call, const std::string& sweep,
                      const std::string& kind) {
    v1::ListTrialsRequest request;
    request.set_target(sweep);
    request.set_limit(50);
    request.set_failed_kind(kind);
    v1::ListTrialsReply reply;
    return results_stub_->ListTrials(call, request, &reply);
  }

  grpc::Status Curve(grpc::ClientContext* call, const std::string& trial) {
    v1::CurveRequest request;
    request.set_trial(trial);
    request.set_metric("train_loss");
    request.set_after_step(-1);
    v1::CurveReply reply;
    return results_stub_->Curve(call, request, &reply);
  }

  grpc::Status Results(grpc::ClientContext* call, const std::string& sweep) {
    v1::ResultsRequest request;
    request.set_sweep(sweep);
    request.set_many_cells(true);
    const auto stream = results_stub_->Results(call, request);
    v1::ResultsPart part;
    while (stream->Read(&part)) {
    }
    return stream->Finish();
  }

  grpc::Status Explain(grpc::ClientContext* call, const std::string& target) {
    v1::ExplainRequest request;
    request.set_target(target);
    v1::ExplainReply reply;
    return sweeps_stub_->Explain(call, request, &reply);
  }

  const int64_t calls_;
  const int64_t sweeps_;
  const int64_t large_;
  std::mt19937_64 chance_{1};
  std::unique_ptr<v1::ResultsService::Stub> results_stub_;
  std::unique_ptr<v1::SweepService::Stub> sweeps_stub_;
  nlohmann::ordered_json times_;
};

}  // namespace
}  // namespace leadline

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: store_calls ADDRESS CALLS SWEEPS LARGE\n";
    return 2;
  }
  leadline::Caller caller(argv[1], std::atoll(argv[2]), std::atoll(argv[3]),
                          std::atoll(argv[4]));
  std::cout << caller.All().dump() << '\n';
  return 0;
}
