#include "cli/wire_status.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/exit_code.h"
#include "cli/problems.h"
#include "errors/error_code.h"
#include "leadline/v1/experiment.pb.h"
#include "tls/transport_reason.h"

namespace leadline::cli {
namespace {

std::vector<Problem> ReadProblems(const v1::Problems& wire,
                                  std::string_view file) {
  std::vector<Problem> problems;
  for (const v1::Problem& problem : wire.problems()) {
    problems.push_back({std::string(file), problem.line(), problem.column(),
                        problem.message()});
  }
  return problems;
}

std::string Advice(const grpc::Status& status, std::string_view where) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
      return fmt::format(
          "no coordinator answers at {} ({}): is the address right, and does "
          "leadline-coordinator run there?",
          where, tls::TransportReason(status.error_message()));
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return fmt::format("the coordinator at {} did not answer in time", where);
    case grpc::StatusCode::UNIMPLEMENTED:
      return fmt::format(
          "the coordinator at {} does not know this request: it is older than "
          "this command",
          where);
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::PERMISSION_DENIED:
      return fmt::format("the coordinator at {} refuses: {}", where,
                         status.error_message());
    default:
      return status.error_message().empty()
                 ? fmt::format("the coordinator at {} gave error {}", where,
                               static_cast<int>(status.error_code()))
                 : status.error_message();
  }
}

}  // namespace

bool IsBrokenOff(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::CANCELLED &&
         status.error_details().empty();
}

absl::Status FromGrpc(const grpc::Status& status, std::string_view where,
                      std::string_view file) {
  if (status.ok()) return absl::OkStatus();
  v1::Problems details;
  if (!details.ParseFromString(status.error_details())) details.Clear();
  if (status.error_code() == grpc::StatusCode::INVALID_ARGUMENT) {
    const auto problems = ReadProblems(details, file);
    if (!problems.empty()) return ProblemsError(problems);
  }
  const auto noted = ReadErrorCode(details.code());
  // gRPC's codes are absl's by number.
  const absl::Status error(
      static_cast<absl::StatusCode>(status.error_code()),
      noted ? status.error_message() : Advice(status, where));
  return At(noted ? WithError(error, *noted) : error, where);
}

}  // namespace leadline::cli
