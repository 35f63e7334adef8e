#include "coordinator/rpc/plan_request.h"

#include <string>
#include <utility>

#include "coordinator/rpc/checkpoint_inspector.h"
#include "coordinator/rpc/data_inspector.h"
#include "coordinator/rpc/status.h"
#include "coordinator/spec_reader/spec_reader.h"

namespace leadline::rpc {
namespace {

std::string FileName(const v1::SubmitRequest& request) {
  return request.file().empty() ? "sweep" : request.file();
}

sweep::Problem TooMany(int64_t trials, bool yes_really) {
  std::string text = "the sweep has " + std::to_string(trials) + " trials; ";
  if (yes_really) {
    text += "no more than " + std::to_string(sweep::kMostTrials) + " are taken";
  } else {
    text += "more than " + std::to_string(sweep::kManyTrials) +
            " must be asked for with --yes-really";
  }
  return {{1, 1}, std::move(text)};
}

}  // namespace

Planned PlanRequest(const v1::SubmitRequest& request, bool must_list,
                    const std::stop_token& stop) {
  Planned planned;
  if (request.base_folder().empty() || request.base_folder()[0] != '/') {
    planned.status = {grpc::StatusCode::INVALID_ARGUMENT,
                      "base_folder must be an absolute path"};
    return planned;
  }
  spec_reader::Reading reading = spec_reader::ReadSweep(
      request.text(), request.base_folder(),
      [&](const std::string& path, const std::string&) {
        return InspectData(path, stop);
      },
      &InspectCheckpoint);
  if (!reading.ok()) {
    planned.status = ToGrpc(reading.problems, FileName(request));
    return planned;
  }
  planned.sweep = std::move(reading.sweep);
  sweep::Planning planning = sweep::MakePlan(
      planned.sweep, {.list_all = must_list && request.yes_really()});
  if (planning.ok() && must_list && !planning.plan.cells_listed) {
    planning.problems.push_back(
        TooMany(planning.plan.trials, request.yes_really()));
  }
  if (!planning.ok()) {
    planned.status = ToGrpc(planning.problems, FileName(request));
    return planned;
  }
  planned.plan = std::move(planning.plan);
  return planned;
}

}  // namespace leadline::rpc
