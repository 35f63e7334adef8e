#include "coordinator/rpc/status.h"

#include <utility>

#include "common/utf8_prefix.h"
#include "coordinator/spec_reader/spec_reader.h"
#include "errors/error_code.h"
#include "leadline/v1/experiment.pb.h"

namespace leadline::rpc {
namespace {

/// Statuses travel in headers, which have a limit of their own: what a user
/// can act on at once is far below it.
constexpr size_t kMostBytes = 4096;
constexpr size_t kMostProblems = 40;

}  // namespace

grpc::Status Stopping() {
  return {grpc::StatusCode::UNAVAILABLE, "the coordinator is stopping"};
}

grpc::Status ToGrpc(const absl::Status& status) {
  const auto code = static_cast<grpc::StatusCode>(status.code());
  std::string message(status.message());
  message.resize(Utf8Prefix(message, kMostBytes).size());
  const auto noted = NotedError(status);
  if (!noted) return {code, std::move(message)};
  v1::Problems details;
  details.set_code(std::string(Name(*noted)));
  return {code, std::move(message), details.SerializeAsString()};
}

grpc::Status ToGrpc(const std::vector<sweep::Problem>& problems,
                    const std::string& file) {
  v1::Problems details;
  std::string text;
  size_t told = 0;
  for (const sweep::Problem& problem : problems) {
    std::string line = spec_reader::ToText(problem, file);
    if (told == kMostProblems || text.size() + line.size() > kMostBytes) break;
    if (told > 0) text += "\n";
    text += line;
    v1::Problem& detail = *details.add_problems();
    detail.set_line(static_cast<int32_t>(problem.at.line));
    detail.set_column(static_cast<int32_t>(problem.at.column));
    detail.set_message(problem.message);
    ++told;
  }
  if (told < problems.size()) {
    const std::string rest =
        "and " + std::to_string(problems.size() - told) + " more problems";
    text += "\n" + file + ":0:0: " + rest;
    details.add_problems()->set_message(rest);
  }
  return {grpc::StatusCode::INVALID_ARGUMENT, text,
          details.SerializeAsString()};
}

}  // namespace leadline::rpc
