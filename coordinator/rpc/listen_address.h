// Where a server may listen.

#pragma once

#include <string>

#include <absl/status/statusor.h>

namespace leadline::rpc {

/// An address and port, or the path of a Unix socket.
struct ListenAddress {
  bool is_unix = false;
  std::string host;  // "127.0.0.1", "[::1]", "0.0.0.0"
  int port = 0;      // 0: any free one
  std::string path;  // absolute

  /// Others than this machine may reach it.
  bool is_public() const;

  /// "127.0.0.1:7000", "unix:/path".
  std::string ToText() const;
};

/// Reads HOST:PORT or unix:PATH. InvalidArgument if it is neither.
absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text);

}  // namespace leadline::rpc
