#include "coordinator/rpc/listen_address.h"

#include <filesystem>
#include <string_view>

#include <absl/status/status.h>

#include "tls/host_port.h"

namespace leadline::rpc {
namespace {

constexpr std::string_view kUnix = "unix:";

absl::Status Malformed(const std::string& text) {
  return absl::InvalidArgumentError("cannot listen on \"" + text +
                                    "\": expected HOST:PORT or unix:PATH");
}

}  // namespace

bool ListenAddress::is_public() const {
  const auto parsed = tls::ParseHostPort(ToText());
  return !is_unix && !(parsed && tls::IsLoopback(parsed->host));
}

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
  const auto parsed = tls::ParseHostPort(text);
  if (!parsed) return Malformed(text);
  address.port = parsed->port;
  address.host = text.substr(0, text.rfind(':'));
  // A name may stand for several addresses, or for another one tomorrow.
  if (address.host == "localhost") address.host = "127.0.0.1";
  return address;
}

}  // namespace leadline::rpc
