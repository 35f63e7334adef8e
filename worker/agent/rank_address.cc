#include "worker/agent/rank_address.h"

#include <algorithm>
#include <array>
#include <memory>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "worker/agent/attempt_folder.h"
#include "worker/agent/file_descriptor.h"

namespace leadline::agent {
namespace {

constexpr size_t kLongest = 300;
constexpr char kLoopback[] = "127.0.0.1";

bool IsAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  return text.size() < kLongest && colon != std::string_view::npos &&
         colon > 0 && colon + 1 < text.size() &&
         std::ranges::all_of(text, [](unsigned char c) {
           return c > ' ' && c < 0x7f && c != ',' && c != '"' && c != '\\';
         });
}

/// Connecting a datagram socket sends nothing; it chooses the way.
std::optional<std::string> LocalEnd(const addrinfo& far) {
  const FileDescriptor socket(
      ::socket(far.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket || connect(socket.get(), far.ai_addr, far.ai_addrlen) != 0) {
    return std::nullopt;
  }
  sockaddr_storage near{};
  socklen_t size = sizeof near;
  std::array<char, NI_MAXHOST> host{};
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&near), &size) !=
          0 ||
      getnameinfo(reinterpret_cast<const sockaddr*>(&near), size, host.data(),
                  host.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return std::nullopt;
  }
  return host.data();
}

}  // namespace

std::optional<std::string> ReadAddress(const std::filesystem::path& folder) {
  std::string text = ReadEnd(folder / "address", kLongest);
  if (!text.ends_with('\n')) return std::nullopt;
  text.pop_back();
  return IsAddress(text) ? std::optional(text) : std::nullopt;
}

std::string AddressTowards(std::string_view coordinator) {
  if (coordinator.starts_with("unix:")) return kLoopback;
  const size_t colon = coordinator.rfind(':');
  if (colon == std::string_view::npos) return kLoopback;
  std::string host(coordinator.substr(0, colon));
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const std::string port(coordinator.substr(colon + 1));
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) {
    return kLoopback;
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found,
                                                               &freeaddrinfo);
  for (const addrinfo* one = found; one; one = one->ai_next) {
    if (auto end = LocalEnd(*one)) return *end;
  }
  return kLoopback;
}

}  // namespace leadline::agent
