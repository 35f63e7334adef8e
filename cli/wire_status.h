// The one place where a gRPC status becomes ours.

#pragma once

#include <string_view>

#include <absl/status/status.h>
#include <grpcpp/grpcpp.h>

namespace leadline::cli {

/// True if the server ended the call without a word: it is being stopped, or a
/// token has ended.
bool IsBrokenOff(const grpc::Status& status);

/// The same code and message, with what a reader can do about it; Problems in
/// the details become those of problems.h, in `file`. `where` is the
/// coordinator's address.
absl::Status FromGrpc(const grpc::Status& status, std::string_view where,
                      std::string_view file = "");

}  // namespace leadline::cli
