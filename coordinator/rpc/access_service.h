// What admins call: tokens and the audit.

#pragma once

#include "coordinator/access/door.h"
#include "coordinator/rpc/background.h"
#include "leadline/v1/access_service.grpc.pb.h"

namespace leadline::rpc {

/// `door` and `background` must outlive it. The disk is used in the background.
class AccessService final : public v1::AccessService::CallbackService {
 public:
  AccessService(access::Door& door, Background& background)
      : door_(door), background_(background) {}

  grpc::ServerUnaryReactor* CreateToken(grpc::CallbackServerContext* context,
                                        const v1::CreateTokenRequest* request,
                                        v1::Token* reply) override;

  grpc::ServerUnaryReactor* ListTokens(grpc::CallbackServerContext* context,
                                       const v1::ListTokensRequest* request,
                                       v1::ListTokensReply* reply) override;

  grpc::ServerUnaryReactor* RevokeToken(grpc::CallbackServerContext* context,
                                        const v1::RevokeTokenRequest* request,
                                        v1::Token* reply) override;

  grpc::ServerUnaryReactor* ListAudit(grpc::CallbackServerContext* context,
                                      const v1::ListAuditRequest* request,
                                      v1::ListAuditReply* reply) override;

 private:
  /// Answers with what `work` returns: a StatusOr of the reply.
  template <typename Reply, typename Work>
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                   Reply* reply, Work work);

  access::Door& door_;
  Background& background_;
};

}  // namespace leadline::rpc
