// Where the checkpoints of a trial are.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "cli/connection.h"
#include "cli/json.h"
#include "cli/terminal.h"

namespace leadline::cli {

struct CheckpointLine {
  int64_t step = 0;
  std::string folder;  // on the node of the attempt
  int64_t bytes = 0;
};

/// Reads them from the event file of an attempt of the trial; 0: the last.
absl::StatusOr<std::vector<CheckpointLine>> FetchCheckpoints(
    Connection& connection, const std::string& trial, int64_t attempt = 0);

std::string RenderCheckpoints(const std::vector<CheckpointLine>& checkpoints,
                              const Style& style);
Json CheckpointsJson(const std::vector<CheckpointLine>& checkpoints);

}  // namespace leadline::cli
