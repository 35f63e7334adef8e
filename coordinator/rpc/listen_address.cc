#include "coordinator/rpc/listen_address.h"

#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include <absl/status/status.h>
#include <arpa/inet.h>

namespace leadline::rpc {
namespace {

constexpr std::string_view kUnix = "unix:";

absl::Status Malformed(const std::string& text) {
  return absl::InvalidArgumentError("cannot listen on \"" + text +
                                    "\": expected HOST:PORT or unix:PATH");
}

std::optional<int> ParsePort(std::string_view text) {
  int port = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 0 ||
      port > 65535) {
    return std::nullopt;
  }
  return port;
}

bool IsLoopback(const std::string& host) {
  in_addr four{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) {
    return (ntohl(four.s_addr) >> 24) == 127;
  }
  return host == "[::1]";
}

}  // namespace

std::string ListenAddress::ToText() const {
  return is_unix ? std::string(kUnix) + path
                 : host + ":" + std::to_string(port);
}

absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text) {
  ListenAddress address;
  if (text.starts_with(kUnix)) {
    const std::string path = text.substr(kUnix.size());
    if (path.empty()) return Malformed(text);
    address.is_unix = true;
    std::error_code error;
    address.path = std::filesystem::absolute(path, error).string();
    if (error) return Malformed(text);
    return address;
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return Malformed(text);
  const auto port = ParsePort(std::string_view(text).substr(colon + 1));
  if (!port) return Malformed(text);
  address.port = *port;
  address.host = text.substr(0, colon);
  // A name may stand for several addresses, or for another one tomorrow.
  if (address.host == "localhost") address.host = "127.0.0.1";
  if (!IsLoopback(address.host)) {
    return absl::PermissionDeniedError(
        "refusing to listen on " + text +
        ": without certificates and tokens only loopback addresses "
        "(127.0.0.1:PORT) and Unix sockets (unix:PATH) are offered");
  }
  return address;
}

}  // namespace leadline::rpc
