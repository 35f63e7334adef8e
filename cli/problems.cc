#include "cli/problems.h"

#include <optional>

#include <absl/strings/cord.h>
#include <fmt/format.h>

#include "cli/exit_code.h"
#include "cli/json.h"
#include "errors/error_code.h"

namespace leadline::cli {
namespace {

constexpr char kPayload[] = "leadline/problems";

std::string PlaceOf(const Problem& problem) {
  if (problem.line <= 0) return problem.file;
  return fmt::format("{}:{}:{}", problem.file, problem.line, problem.column);
}

}  // namespace

std::string ProblemLine(const Problem& problem) {
  return PlaceOf(problem) + ": " + problem.message;
}

absl::Status ProblemsError(const std::vector<Problem>& problems) {
  std::string message;
  Json list = Json::array();
  for (const Problem& problem : problems) {
    message += (message.empty() ? "" : "\n") + ProblemLine(problem);
    list.push_back(
        {problem.file, problem.line, problem.column, problem.message});
  }
  absl::Status status =
      WithError(absl::InvalidArgumentError(message), ErrorCode::kSweepFile);
  status.SetPayload(kPayload, absl::Cord(Document(list)));
  return problems.empty() ? status : At(status, PlaceOf(problems.front()));
}

std::vector<Problem> ProblemsOf(const absl::Status& status) {
  std::vector<Problem> problems;
  const auto payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return problems;
  for (const Json& item : Json::parse(std::string(*payload))) {
    problems.push_back({item[0], item[1], item[2], item[3]});
  }
  return problems;
}

}  // namespace leadline::cli
