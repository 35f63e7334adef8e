// Statuses of ours as gRPC's.

#pragma once

#include <string>
#include <vector>

#include <absl/status/status.h>
#include <grpcpp/grpcpp.h>

#include "coordinator/sweep/sweep.h"

namespace leadline::rpc {

/// UNAVAILABLE: the server is ending.
grpc::Status Stopping();

/// The same code and message, which error it is in the details.
grpc::Status ToGrpc(const absl::Status& status);

/// INVALID_ARGUMENT: a line "file:line:column: message" a problem, and all of
/// them as leadline.v1.Problems in the details.
grpc::Status ToGrpc(const std::vector<sweep::Problem>& problems,
                    const std::string& file);

}  // namespace leadline::rpc
