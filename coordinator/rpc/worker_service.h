// What agents call.

#pragma once

#include "coordinator/rpc/agent_sessions.h"
#include "leadline/v1/worker_service.grpc.pb.h"

namespace leadline::rpc {

class WorkerService final : public v1::WorkerService::CallbackService {
 public:
  explicit WorkerService(AgentSessions& sessions) : sessions_(sessions) {}

  grpc::ServerBidiReactor<v1::AgentMessage, v1::CoordinatorMessage>* Session(
      grpc::CallbackServerContext*) override {
    return sessions_.Open();
  }

 private:
  AgentSessions& sessions_;
};

}  // namespace leadline::rpc
