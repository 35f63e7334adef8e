#include "cli/dial.h"

#include <chrono>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "cli/access.h"
#include "cli/exit_code.h"
#include "cli/wire_status.h"
#include "proto/channel_settings.h"
#include "tls/channel.h"
#include "tls/diagnosis.h"

namespace leadline::cli {
namespace {

constexpr std::chrono::seconds kDiagnosisTime{5};

// A socket's path has 107 bytes at most, a folder's has no such limit: the
// folder is opened, and the socket named through its descriptor.
absl::StatusOr<std::string> Target(const std::string& address,
                                   Descriptor* folder) {
  if (!address.starts_with("unix:")) return address;
  const std::filesystem::path path = address.substr(5);
  const auto parent = path.has_parent_path() ? path.parent_path() : ".";
  *folder = Descriptor(open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder->is_open()) {
    return FromGrpc({grpc::StatusCode::UNAVAILABLE, "no such folder"}, address);
  }
  return fmt::format("unix:/proc/self/fd/{}/{}", folder->number(),
                     path.filename().string());
}

}  // namespace

absl::StatusOr<Dialled> Dial(const std::string& address) {
  Dialled dialled;
  const auto target = Target(address, &dialled.folder);
  if (!target.ok()) return target.status();
  const auto access = ReadAccess(address);
  if (!access.ok()) return access.status();
  auto channel = tls::Dial({address, *target, access->files, access->token},
                           ClientArguments());
  if (!channel.ok()) return At(channel.status(), address);
  dialled.channel = *std::move(channel);
  return dialled;
}

absl::Status WithReason(const absl::Status& status,
                        const std::string& address) {
  // gRPC has one code for a server that is not there and one that we do not
  // trust.
  const auto access = ReadAccess(address);
  if (!absl::IsUnavailable(status) || !access.ok()) return status;
  const absl::Status why =
      tls::DiagnoseHandshake(address, access->files, kDiagnosisTime);
  if (why.ok()) return status;
  return At(absl::Status(why.code(),
                         fmt::format("no safe connection to {}: {}", address,
                                     std::string(why.message()))),
            address);
}

}  // namespace leadline::cli
