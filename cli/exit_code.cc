#include "cli/exit_code.h"

#include <optional>
#include <string>

#include <absl/strings/cord.h>
#include <absl/strings/numbers.h>

namespace leadline::cli {
namespace {

constexpr char kExitCodePayload[] = "leadline/exit_code";
constexpr char kWherePayload[] = "leadline/where";

std::optional<std::string> Payload(const absl::Status& status,
                                   const char* name) {
  const auto cord = status.GetPayload(name);
  if (!cord.has_value()) return std::nullopt;
  return std::string(*cord);
}

}  // namespace

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return ExitCode::kDone;
  int code = 0;
  const auto fixed = Payload(status, kExitCodePayload);
  if (fixed.has_value() && absl::SimpleAtoi(*fixed, &code)) {
    return static_cast<ExitCode>(code);
  }
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return ExitCode::kMisuse;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kUnreachable;
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
      return ExitCode::kRefused;
    case absl::StatusCode::kNotFound:
      return ExitCode::kNotFound;
    default:
      return ExitCode::kFailed;
  }
}

absl::Status WithExitCode(absl::Status status, ExitCode code) {
  status.SetPayload(kExitCodePayload,
                    absl::Cord(std::to_string(static_cast<int>(code))));
  return status;
}

absl::Status At(absl::Status status, std::string_view where) {
  if (!status.ok() && !Payload(status, kWherePayload).has_value()) {
    status.SetPayload(kWherePayload, absl::Cord(std::string(where)));
  }
  return status;
}

std::string WhereOf(const absl::Status& status) {
  return Payload(status, kWherePayload).value_or("");
}

std::string_view ExitCodeHelp() {
  return "  0    done (with --strict, diverged trials make it 3)\n"
         "  1    the operation failed\n"
         "  2    misuse: arguments or sweep file\n"
         "  3    the sweep ended and some trials failed\n"
         "  4    coordinator unreachable\n"
         "  5    refused: authentication or permission\n"
         "  6    not found\n"
         "  7    nothing could run: no agent, or no device that fits\n"
         "  130  interrupted\n";
}

}  // namespace leadline::cli
