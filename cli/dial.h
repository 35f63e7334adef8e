// A channel to a coordinator, wherever it listens.

#pragma once

#include <memory>
#include <string>

#include <absl/status/statusor.h>
#include <grpcpp/channel.h>

#include "cli/descriptor.h"
#include "tls/client.h"

namespace leadline::cli {

struct Dialled {
  std::shared_ptr<grpc::Channel> channel;
  Descriptor folder;  // of a socket, which is dialled through it: keep it open
};

/// `address` is "host:port" or "unix:PATH", of any length. By what a command is
/// let in stands in the environment (cli/access.h). Unavailable if a socket's
/// folder is not there, InvalidArgument if a file of TLS or the token's cannot
/// be used.
absl::StatusOr<Dialled> Dial(const std::string& address);

/// The reason why a coordinator that was dialled is Unavailable to us, where it
/// is not that it is not there: Unauthenticated if certificates do not fit.
/// Else `status`.
absl::Status WithReason(const absl::Status& status, const std::string& address);

}  // namespace leadline::cli
