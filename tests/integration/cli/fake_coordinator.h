// A coordinator whose answers a test sets, in this process and on a free port.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "leadline/v1/node_service.grpc.pb.h"
#include "leadline/v1/results_service.grpc.pb.h"
#include "leadline/v1/sweep_service.grpc.pb.h"

namespace leadline::cli_test {

/// Each call is answered by the function of its name; those not set say
/// UNIMPLEMENTED. Attach answers `attach_reply` and stays open.
struct Answers {
  template <class Request, class Reply>
  using Unary = std::function<grpc::Status(const Request&, Reply*)>;
  template <class Request, class Part>
  using Streamed = std::function<grpc::Status(
      const Request&, grpc::ServerContext*, grpc::ServerWriter<Part>*)>;

  v1::AttachReply attach_reply;
  Streamed<v1::SubmitRequest, v1::PlanPart> plan;
  Unary<v1::SubmitRequest, v1::SubmitReply> submit;
  Unary<v1::CancelRequest, v1::CancelReply> cancel;
  Unary<v1::RetryRequest, v1::RetryReply> retry;
  Unary<v1::PauseRequest, v1::PauseReply> pause;
  Unary<v1::ResumeRequest, v1::ResumeReply> resume;
  Unary<v1::ExplainRequest, v1::ExplainReply> explain;
  Streamed<v1::WatchRequest, v1::Progress> watch;
  Unary<v1::ListSweepsRequest, v1::ListSweepsReply> list_sweeps;
  Streamed<v1::ResultsRequest, v1::ResultsPart> results;
  Unary<v1::ListTrialsRequest, v1::ListTrialsReply> list_trials;
  Unary<v1::TrialRequest, v1::ShowTrialReply> show_trial;
  Unary<v1::TrialRequest, v1::TrainerConfigReply> trainer_config;
  Unary<v1::RoutingRequest, v1::RoutingReply> routing;
  Streamed<v1::LogRequest, v1::LogChunk> read_log;
  Unary<v1::ListNodesRequest, v1::ListNodesReply> list_nodes;
  Unary<v1::ShowNodeRequest, v1::ShowNodeReply> show_node;
  Unary<v1::ClearNodeRequest, v1::ClearNodeReply> clear_node;
};

class FakeCoordinator {
 public:
  explicit FakeCoordinator(Answers answers,
                           const std::string& listen = "127.0.0.1:0");
  ~FakeCoordinator();

  /// "127.0.0.1:PORT".
  std::string address() const;

  /// Attach requests so far.
  std::vector<v1::AttachRequest> attached() const;

  /// Ends at once, breaking every call.
  void Die();

 private:
  class SweepCalls;
  class ResultsCalls;
  class NodeCalls;

  Answers answers_;
  int port_ = 0;
  std::unique_ptr<SweepCalls> sweeps_;
  std::unique_ptr<ResultsCalls> results_;
  std::unique_ptr<NodeCalls> nodes_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace leadline::cli_test
