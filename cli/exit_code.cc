#include "cli/exit_code.h"

#include <optional>
#include <string>

#include <absl/strings/cord.h>

#include "errors/error_code.h"

namespace leadline::cli {
namespace {

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
  return static_cast<ExitCode>(RowOf(ErrorOf(status)).exit_code);
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
