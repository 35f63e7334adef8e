// A channel that shows a token with every call.

#pragma once

#include <memory>
#include <string>

#include <absl/status/statusor.h>
#include <grpcpp/channel.h>
#include <grpcpp/support/channel_arguments.h>

#include "tls/client.h"

namespace leadline::tls {

struct DialOptions {
  std::string address;  // "HOST:PORT" or "unix:PATH", as people gave it
  std::string target;   // the same as gRPC is told
  ClientFiles files;
  std::string token;  // empty: none is shown
};

/// InvalidArgument if a file cannot be used, or the token is none that a header
/// could carry. A token never leaves this machine but encrypted.
absl::StatusOr<std::shared_ptr<grpc::Channel>> Dial(
    const DialOptions& options, const grpc::ChannelArguments& arguments);

}  // namespace leadline::tls
