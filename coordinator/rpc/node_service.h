// What people ask of the machines that train.

#pragma once

#include "coordinator/control/sinks.h"
#include "leadline/v1/node_service.grpc.pb.h"

namespace leadline::rpc {

/// Handlers convert, post and reply: all there is to know is on the thread of
/// control.
class NodeService final : public v1::NodeService::CallbackService {
 public:
  /// `commands` must outlive it.
  explicit NodeService(control::CommandSink& commands) : commands_(commands) {}

  grpc::ServerUnaryReactor* ListNodes(grpc::CallbackServerContext* context,
                                      const v1::ListNodesRequest* request,
                                      v1::ListNodesReply* reply) override;

  grpc::ServerUnaryReactor* ShowNode(grpc::CallbackServerContext* context,
                                     const v1::ShowNodeRequest* request,
                                     v1::ShowNodeReply* reply) override;

  grpc::ServerUnaryReactor* ClearNode(grpc::CallbackServerContext* context,
                                      const v1::ClearNodeRequest* request,
                                      v1::ClearNodeReply* reply) override;

 private:
  control::CommandSink& commands_;
};

}  // namespace leadline::rpc
