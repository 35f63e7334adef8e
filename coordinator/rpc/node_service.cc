#include "coordinator/rpc/node_service.h"

#include <variant>

#include "coordinator/rpc/node_convert.h"
#include "coordinator/rpc/request_id.h"
#include "coordinator/rpc/status.h"

namespace leadline::rpc {
namespace {

grpc::Status CheckNodeName(const std::string& node) {
  constexpr size_t kLongest = 128;
  if (!node.empty() && node.size() <= kLongest) return grpc::Status::OK;
  return {grpc::StatusCode::INVALID_ARGUMENT,
          "a node's name has 1 to 128 bytes"};
}

}  // namespace

grpc::ServerUnaryReactor* NodeService::ListNodes(
    grpc::CallbackServerContext* context, const v1::ListNodesRequest* request,
    v1::ListNodesReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  // Request and reply live until Finish.
  commands_.Post(control::LookAtNodes{}, [=](const auto& answer) {
    if (!answer.ok()) return reactor->Finish(ToGrpc(answer.status()));
    auto page = ToListReply(std::get<control::NodesReport>(*answer), *request);
    if (page.ok()) *reply = *std::move(page);
    reactor->Finish(ToGrpc(page.status()));
  });
  return reactor;
}

grpc::ServerUnaryReactor* NodeService::ShowNode(
    grpc::CallbackServerContext* context, const v1::ShowNodeRequest* request,
    v1::ShowNodeReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const grpc::Status check = CheckNodeName(request->node());
  if (!check.ok()) {
    reactor->Finish(check);
    return reactor;
  }
  commands_.Post(
      control::LookAtNodes{request->node()}, [=](const auto& answer) {
        if (answer.ok()) {
          const auto& report = std::get<control::NodesReport>(*answer);
          *reply = ToShowReply(report.nodes.front());
        }
        reactor->Finish(ToGrpc(answer.status()));
      });
  return reactor;
}

grpc::ServerUnaryReactor* NodeService::ClearNode(
    grpc::CallbackServerContext* context, const v1::ClearNodeRequest* request,
    v1::ClearNodeReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  grpc::Status check = CheckRequestId(request->request_id());
  if (check.ok()) check = CheckNodeName(request->node());
  if (!check.ok()) {
    reactor->Finish(check);
    return reactor;
  }
  commands_.Post(control::ClearNode{request->node(), request->request_id(), {}},
                 [=](const auto& answer) {
                   if (answer.ok()) {
                     const auto& cleared =
                         std::get<control::ClearAnswer>(*answer);
                     reply->set_node(request->node());
                     reply->set_was_quarantined(cleared.was_quarantined);
                     reply->set_failures(cleared.failures);
                   }
                   reactor->Finish(ToGrpc(answer.status()));
                 });
  return reactor;
}

}  // namespace leadline::rpc
