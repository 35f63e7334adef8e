// The ids of changing requests.

#pragma once

#include <string>

#include <grpcpp/grpcpp.h>

namespace leadline::rpc {

/// INVALID_ARGUMENT unless it has 1 to 128 bytes.
inline grpc::Status CheckRequestId(const std::string& id) {
  constexpr size_t kLongest = 128;
  if (!id.empty() && id.size() <= kLongest) return grpc::Status::OK;
  return {grpc::StatusCode::INVALID_ARGUMENT,
          "request_id must have 1 to 128 bytes"};
}

}  // namespace leadline::rpc
