#include "fake_coordinator.h"

#include <thread>

namespace leadline::cli_test {
namespace {

using grpc::ServerContext;
using grpc::ServerWriter;
using grpc::Status;

template <class Function, class... Values>
Status Answer(const Function& function, Values&&... values) {
  if (!function) return Status(grpc::StatusCode::UNIMPLEMENTED, "not set");
  return function(std::forward<Values>(values)...);
}

}  // namespace

class FakeCoordinator::SweepCalls final : public v1::SweepService::Service {
 public:
  explicit SweepCalls(const Answers& answers) : answers_(answers) {}

  Status Attach(ServerContext* context, const v1::AttachRequest* request,
                ServerWriter<v1::AttachReply>* writer) override {
    {
      const std::lock_guard lock(mutex_);
      attached_.push_back(*request);
    }
    writer->Write(answers_.attach_reply);
    while (!context->IsCancelled()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return Status::OK;
  }
  Status Plan(ServerContext* context, const v1::SubmitRequest* request,
              ServerWriter<v1::PlanPart>* writer) override {
    return Answer(answers_.plan, *request, context, writer);
  }
  Status Submit(ServerContext*, const v1::SubmitRequest* request,
                v1::SubmitReply* reply) override {
    return Answer(answers_.submit, *request, reply);
  }
  Status Cancel(ServerContext*, const v1::CancelRequest* request,
                v1::CancelReply* reply) override {
    return Answer(answers_.cancel, *request, reply);
  }
  Status Retry(ServerContext*, const v1::RetryRequest* request,
               v1::RetryReply* reply) override {
    return Answer(answers_.retry, *request, reply);
  }
  Status Pause(ServerContext*, const v1::PauseRequest* request,
               v1::PauseReply* reply) override {
    return Answer(answers_.pause, *request, reply);
  }
  Status Resume(ServerContext*, const v1::ResumeRequest* request,
                v1::ResumeReply* reply) override {
    return Answer(answers_.resume, *request, reply);
  }
  Status Explain(ServerContext*, const v1::ExplainRequest* request,
                 v1::ExplainReply* reply) override {
    return Answer(answers_.explain, *request, reply);
  }
  Status Watch(ServerContext* context, const v1::WatchRequest* request,
               ServerWriter<v1::Progress>* writer) override {
    return Answer(answers_.watch, *request, context, writer);
  }

  std::vector<v1::AttachRequest> attached() const {
    const std::lock_guard lock(mutex_);
    return attached_;
  }

 private:
  const Answers& answers_;
  mutable std::mutex mutex_;
  std::vector<v1::AttachRequest> attached_;
};

class FakeCoordinator::ResultsCalls final : public v1::ResultsService::Service {
 public:
  explicit ResultsCalls(const Answers& answers) : answers_(answers) {}

  Status ListSweeps(ServerContext*, const v1::ListSweepsRequest* request,
                    v1::ListSweepsReply* reply) override {
    return Answer(answers_.list_sweeps, *request, reply);
  }
  Status Results(ServerContext* context, const v1::ResultsRequest* request,
                 ServerWriter<v1::ResultsPart>* writer) override {
    return Answer(answers_.results, *request, context, writer);
  }
  Status ListTrials(ServerContext*, const v1::ListTrialsRequest* request,
                    v1::ListTrialsReply* reply) override {
    return Answer(answers_.list_trials, *request, reply);
  }
  Status ShowTrial(ServerContext*, const v1::TrialRequest* request,
                   v1::ShowTrialReply* reply) override {
    return Answer(answers_.show_trial, *request, reply);
  }
  Status TrainerConfig(ServerContext*, const v1::TrialRequest* request,
                       v1::TrainerConfigReply* reply) override {
    return Answer(answers_.trainer_config, *request, reply);
  }
  Status Routing(ServerContext*, const v1::RoutingRequest* request,
                 v1::RoutingReply* reply) override {
    return Answer(answers_.routing, *request, reply);
  }
  Status ReadLog(ServerContext* context, const v1::LogRequest* request,
                 ServerWriter<v1::LogChunk>* writer) override {
    return Answer(answers_.read_log, *request, context, writer);
  }

 private:
  const Answers& answers_;
};

class FakeCoordinator::NodeCalls final : public v1::NodeService::Service {
 public:
  explicit NodeCalls(const Answers& answers) : answers_(answers) {}

  Status ListNodes(ServerContext*, const v1::ListNodesRequest* request,
                   v1::ListNodesReply* reply) override {
    return Answer(answers_.list_nodes, *request, reply);
  }
  Status ShowNode(ServerContext*, const v1::ShowNodeRequest* request,
                  v1::ShowNodeReply* reply) override {
    return Answer(answers_.show_node, *request, reply);
  }
  Status ClearNode(ServerContext*, const v1::ClearNodeRequest* request,
                   v1::ClearNodeReply* reply) override {
    return Answer(answers_.clear_node, *request, reply);
  }

 private:
  const Answers& answers_;
};

FakeCoordinator::FakeCoordinator(Answers answers, const std::string& listen)
    : answers_(std::move(answers)),
      sweeps_(std::make_unique<SweepCalls>(answers_)),
      results_(std::make_unique<ResultsCalls>(answers_)),
      nodes_(std::make_unique<NodeCalls>(answers_)) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(listen, grpc::InsecureServerCredentials(), &port_);
  builder.RegisterService(sweeps_.get());
  builder.RegisterService(results_.get());
  builder.RegisterService(nodes_.get());
  server_ = builder.BuildAndStart();
}

FakeCoordinator::~FakeCoordinator() { Die(); }

std::string FakeCoordinator::address() const {
  return "127.0.0.1:" + std::to_string(port_);
}

std::vector<v1::AttachRequest> FakeCoordinator::attached() const {
  return sweeps_->attached();
}

void FakeCoordinator::Die() {
  server_->Shutdown(std::chrono::system_clock::now());
}

}  // namespace leadline::cli_test
