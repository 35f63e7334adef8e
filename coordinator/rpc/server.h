// The gRPC server: binds one address and serves until it is stopped.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/statusor.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/support/server_interceptor.h>

#include "coordinator/rpc/listen_address.h"

namespace leadline::rpc {

/// Messages in both directions stay below this.
inline constexpr int kMostMessageBytes = 1 << 20;

using Interceptors = std::vector<
    std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>;

class Server {
 public:
  /// Binds and serves; the services must outlive it. Unavailable, with the port
  /// or path named, if it is taken. `interceptors` see each call, in order.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      const ListenAddress& address, const std::vector<grpc::Service*>& services,
      Interceptors interceptors = {});

  ~Server();

  /// What was bound: with the port that was found free.
  const ListenAddress& address() const { return address_; }

  /// Takes no more calls; those still open after `grace` are cancelled. Blocks
  /// until all have ended.
  void Stop(std::chrono::milliseconds grace);

 private:
  Server() = default;

  ListenAddress address_;
  int folder_ = -1;  // of the Unix socket, whose path holds 107 bytes
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace leadline::rpc
