#include "coordinator/rpc/listen_address.h"

#include <filesystem>
#include <string_view>

#include <absl/status/status.h>

#include "tls/host_port.h"

namespace leadline::rpc {
namespace {

constexpr std::string_view kUnix = "unix:";

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
  if (std::string why = tls::WhyNotAddress(text, {.may_be_any_port = true});
      !why.empty()) {
    return absl::InvalidArgumentError(why);
  }
  ListenAddress address;
  if (text.starts_with(kUnix)) {
    address.is_unix = true;
    std::error_code error;
    address.path =
        std::filesystem::absolute(text.substr(kUnix.size()), error).string();
    if (!error) return address;
    return absl::InvalidArgumentError("cannot listen on " + text + ": " +
                                      error.message());
  }
  const size_t colon = text.rfind(':');
  address.host = text.substr(0, colon);
  address.port = tls::ParseHostPort(text)->port;
  // A name may stand for several addresses, or for another one tomorrow.
  if (address.host == "localhost") address.host = "127.0.0.1";
  return address;
}

}  // namespace leadline::rpc
