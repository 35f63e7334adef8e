// Addresses of the form HOST:PORT: whether a text is one, and which of them
// stay on this machine.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace leadline::tls {

struct HostPort {
  std::string host;  // without the brackets of an IPv6 address
  int port = 0;
};

/// "host:7000", "[::1]:7000"; null if it is neither.
std::optional<HostPort> ParseHostPort(std::string_view text);

/// What an address may be where it is given.
struct AddressForm {
  bool may_be_socket = true;     // "unix:PATH"
  bool may_be_any_port = false;  // port 0, of one who listens
};

/// "expected HOST:PORT or unix:PATH, found http://a:1; leave out http://":
/// whatever reads an address from people asks this. Empty if `text` is one.
std::string WhyNotAddress(std::string_view text, AddressForm form = {});

/// True for 127.0.0.0/8, ::1 and "localhost". Other names may mean anything.
bool IsLoopback(const std::string& host);

/// True for an address in figures, of either version.
bool IsNumeric(const std::string& host);

}  // namespace leadline::tls
