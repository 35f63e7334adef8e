// Holds every call of gRPC to the door: before a handler hears of it, and while
// it lasts.

#pragma once

#include <memory>
#include <optional>

#include <absl/status/statusor.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/support/server_interceptor.h>

#include "coordinator/access/door.h"
#include "coordinator/rpc/listen_address.h"
#include "tls/server.h"

namespace leadline::rpc {

/// Credentials of a listener that lets in what `door` admits, whatever the
/// service; the door must outlive the server. TLS where files are given.
/// InvalidArgument if one of them cannot be used.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> GuardedCredentials(
    const ListenAddress& address, const tls::ServerFiles& files,
    access::Door& door);

/// Who makes the call, which was let in; null if its token has ended since.
std::optional<access::Caller> CallerOf(const access::Door& door,
                                       const grpc::ServerContextBase& context);

/// Notes admitted calls: in the audit those that change something, which are
/// answered when their row is on disk; among the open streams those that last.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
MakeCallRecorder(access::Door& door);

}  // namespace leadline::rpc
