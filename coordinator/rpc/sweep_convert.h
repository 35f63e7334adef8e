// Where plans, sweeps and progress meet their messages.

#pragma once

#include <cstdint>

#include "coordinator/control/command.h"
#include "coordinator/control/outcome.h"
#include "coordinator/sweep/plan.h"
#include "coordinator/sweep/sweep.h"
#include "leadline/v1/sweep_service.pb.h"
#include "storage/store_reader.h"

namespace leadline::rpc {

/// The sweep as control takes it. Cells must be listed.
control::NewSweep ToNewSweep(const sweep::Sweep& sweep, const sweep::Plan& plan,
                             const v1::SubmitRequest& request);

v1::PlanCounts ToProto(const sweep::Plan& plan, const std::string& name);
v1::PlannedCell ToProto(const sweep::PlannedCell& cell, int64_t trials);

/// Failures numbered above `told` alone.
v1::Progress ToProto(const control::ProgressReport& report, int64_t told);

v1::RetryReply ToProto(const control::RetryAnswer& answer);
void Copy(const control::PauseAnswer& answer, v1::PauseReply& reply);
void Copy(const control::ResumeAnswer& answer, v1::ResumeReply& reply);

/// Of a sweep that is no longer in memory: its end.
v1::Progress ToProto(const storage::SweepRow& row);

}  // namespace leadline::rpc
