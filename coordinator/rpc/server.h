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
#include "proto/channel_settings.h"

namespace leadline::rpc {

/// One door of a server.
struct Listener {
  ListenAddress address;
  std::shared_ptr<grpc::ServerCredentials> credentials;  // null: anybody's
};

using Interceptors = std::vector<
    std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>;

class Server {
 public:
  /// Binds all and serves; the services must outlive it. Unavailable, with the
  /// port or path named, if one is taken.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      const std::vector<Listener>& listeners,
      const std::vector<grpc::Service*>& services,
      Interceptors interceptors = {}, const Keepalive& keepalive = {});

  ~Server();

  /// What the first listener bound: with the port that was found free.
  const ListenAddress& address() const { return address_; }

  /// Takes no more calls; those still open after `grace` are cancelled. Blocks
  /// until all have ended.
  void Stop(std::chrono::milliseconds grace);

 private:
  Server() = default;

  ListenAddress address_;
  std::vector<int> folders_;  // of Unix sockets, whose paths hold 107 bytes
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace leadline::rpc
