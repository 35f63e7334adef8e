#include "tls/host_port.h"

#include <algorithm>
#include <charconv>

#include <arpa/inet.h>

namespace leadline::tls {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kScheme = "://";
constexpr int kMostPort = 65535;

bool IsLetterOrDigit(unsigned char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

/// A name or an IPv4 address. What a name is exactly is for who resolves it.
bool IsName(std::string_view host) {
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return IsLetterOrDigit(static_cast<unsigned char>(c)) || c == '.' ||
           c == '-' || c == '_';
  });
}

/// "[::1]", "[fe80::1%eth0]".
bool IsBracketed(std::string_view host) {
  if (!host.starts_with('[') || !host.ends_with(']')) return false;
  in6_addr any{};
  const std::string inside(host.substr(1, host.size() - 2));
  return inet_pton(AF_INET6, inside.substr(0, inside.find('%')).c_str(),
                   &any) == 1;
}

/// What is most likely meant by what is no HOST:PORT.
std::string Advice(std::string_view text, AddressForm form) {
  if (const size_t at = text.find(kScheme); at != std::string_view::npos) {
    return "leave out " + std::string(text.substr(0, at + kScheme.size()));
  }
  if (text.find('/') != std::string_view::npos) {
    return form.may_be_socket ? "a socket's path begins with unix:"
                              : "it has no path";
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return "the port is missing";
  if (colon == 0) return "the host is missing";
  if (text.find(':') != colon && !text.starts_with('[')) {
    return "an IPv6 address stands in brackets, [::1]:7070";
  }
  const std::string_view host = text.substr(0, colon);
  if (!IsName(host) && !IsBracketed(host)) return "that is no host";
  return "ports are numbers from " +
         std::string(form.may_be_any_port ? "0" : "1") + " to " +
         std::to_string(kMostPort);
}

}  // namespace

std::optional<HostPort> ParseHostPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view host = text.substr(0, colon);
  const bool bracketed = IsBracketed(host);
  if (!bracketed && !IsName(host)) return std::nullopt;
  HostPort parsed;
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] =
      std::from_chars(port.data(), port.data() + port.size(), parsed.port);
  if (error != std::errc() || end != port.data() + port.size() ||
      parsed.port < 0 || parsed.port > kMostPort) {
    return std::nullopt;
  }
  parsed.host = bracketed ? host.substr(1, host.size() - 2) : host;
  return parsed;
}

std::string WhyNotAddress(std::string_view text, AddressForm form) {
  if (form.may_be_socket && text.starts_with(kUnix)) {
    return text.size() > kUnix.size() ? ""
                                      : "expected unix:PATH, found unix: alone";
  }
  const auto parsed = ParseHostPort(text);
  if (parsed && (parsed->port > 0 || form.may_be_any_port)) return "";
  const std::string expected = form.may_be_socket
                                   ? "expected HOST:PORT or unix:PATH, found "
                                   : "expected HOST:PORT, found ";
  if (text.empty()) return expected + "nothing";
  return expected + std::string(text) + "; " + Advice(text, form);
}

bool IsLoopback(const std::string& host) {
  in_addr four{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) {
    return (ntohl(four.s_addr) >> 24) == 127;
  }
  return host == "::1" || host == "localhost";
}

bool IsNumeric(const std::string& host) {
  in6_addr any{};
  return inet_pton(AF_INET, host.c_str(), &any) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &any) == 1;
}

}  // namespace leadline::tls
