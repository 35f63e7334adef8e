// From the text of a sweep file to its plan.

#pragma once

#include <stop_token>

#include <absl/status/statusor.h>
#include <grpcpp/grpcpp.h>

#include "coordinator/sweep/plan.h"
#include "coordinator/sweep/sweep.h"
#include "leadline/v1/sweep_service.pb.h"

namespace leadline::rpc {

struct Planned {
  sweep::Sweep sweep;
  sweep::Plan plan;
  grpc::Status status;  // the rest is meaningful only where it is OK
};

/// Reads, checks and plans. Blocks while it reads data files. INVALID_ARGUMENT
/// with Problems where the file is refused. `must_list`: the cells are needed,
/// so too many trials are refused unless `yes_really` is set.
Planned PlanRequest(const v1::SubmitRequest& request, bool must_list,
                    const std::stop_token& stop);

}  // namespace leadline::rpc
