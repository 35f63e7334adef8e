// The HTTP server: reads requests and writes answers on a thread of its own,
// and has routes answer on others. Nothing here touches the thread of control.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <absl/status/statusor.h>

#include "coordinator/http/limits.h"
#include "coordinator/http/routes.h"

namespace boost::asio::ssl {
class context;
}

namespace leadline::http {

/// Told of every answer: its route, or kOtherRoute, and its code. Thread-safe.
using OnAnswered = std::function<void(const std::string& route, unsigned code)>;

struct ServerOptions {
  std::string host;   // "127.0.0.1", "[::1]"
  uint16_t port = 0;  // 0: any free one
  Limits limits;
  OnAnswered on_answered;  // may be empty
  /// Given: all is encrypted. Asked by the thread that accepts, once for each
  /// connection.
  std::function<std::shared_ptr<boost::asio::ssl::context>()> tls;
};

/// Thread-safe.
class Server {
 public:
  /// Serves when it returns. Unavailable, with the port named, if it is taken;
  /// InvalidArgument if the host is no address.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServerOptions options,
                                                       Routes routes);

  /// Stops.
  ~Server();

  /// What was bound: "127.0.0.1:9464".
  std::string address() const;

  /// Ends all connections; waits for answers that are being made. The second
  /// call does nothing.
  void Stop();

 private:
  class Listener;

  explicit Server(std::unique_ptr<Listener> listener);

  std::unique_ptr<Listener> listener_;
};

}  // namespace leadline::http
