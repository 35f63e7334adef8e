#include "worker/agent/coordinator_address.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <absl/status/status.h>
#include <fcntl.h>

#include "tls/host_port.h"

namespace leadline::agent {
namespace {

constexpr std::string_view kUnix = "unix:";

}  // namespace

absl::StatusOr<DialTarget> MakeDialTarget(std::string_view address) {
  if (const std::string why = tls::WhyNotAddress(address); !why.empty()) {
    return absl::InvalidArgumentError(why);
  }
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
