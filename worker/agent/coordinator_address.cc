#include "worker/agent/coordinator_address.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <utility>

#include <absl/status/status.h>
#include <fcntl.h>

namespace leadline::agent {
namespace {

constexpr std::string_view kUnix = "unix:";

bool IsHostAndPort(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view text = address.substr(colon + 1);
  int port = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() &&
         port >= 1 && port <= 65535;
}

}  // namespace

absl::Status CheckAddress(std::string_view address) {
  if (address.starts_with(kUnix) ? address.size() > kUnix.size()
                                 : IsHostAndPort(address)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("expected HOST:PORT or unix:PATH, found " +
                                    std::string(address));
}

absl::StatusOr<DialTarget> MakeDialTarget(std::string_view address) {
  if (absl::Status status = CheckAddress(address); !status.ok()) return status;
  DialTarget dial;
  if (!address.starts_with(kUnix)) {
    dial.target = "dns:///" + std::string(address);
    return dial;
  }
  const std::filesystem::path path =
      std::filesystem::absolute(address.substr(kUnix.size()));
  dial.folder = FileDescriptor(
      open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!dial.folder) {
    return absl::UnavailableError("cannot open " + path.parent_path().string() +
                                  ": " + std::strerror(errno));
  }
  dial.target = "unix:/proc/self/fd/" + std::to_string(dial.folder.get()) +
                "/" + path.filename().string();
  return dial;
}

}  // namespace leadline::agent
