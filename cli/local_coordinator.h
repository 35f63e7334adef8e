// The private coordinator of a state folder: joined if one lives, started if
// none does.

#pragma once

#include <filesystem>
#include <memory>

#include <absl/status/statusor.h>

#include "cli/connection.h"

namespace leadline::cli {

/// Joins the coordinator at `state`/coordinator.sock, or starts `program` and
/// joins that. Of several commands that start one at once, one wins and all
/// join it; one that is ending is waited for. Unavailable if that takes longer
/// than half a minute, Internal with the coordinator's own words if it cannot
/// start.
absl::StatusOr<std::unique_ptr<Connection>> JoinLocalCoordinator(
    const std::filesystem::path& state, const std::filesystem::path& program,
    const v1::AttachRequest& request);

/// Ends the connection and waits for the process of its coordinator to end, as
/// long as `limit`. False if it lives on, as it does while others use it.
bool LeaveAndWait(Connection& connection, std::chrono::milliseconds limit);

/// The program beside the one that runs.
std::filesystem::path ProgramBeside(const std::string& name);

}  // namespace leadline::cli
