// A plan, as fetched and as printed.

#pragma once

#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "cli/connection.h"
#include "cli/json.h"
#include "cli/terminal.h"

namespace leadline::cli {

struct PlanView {
  v1::PlanCounts counts;
  std::vector<v1::PlannedCell> cells;  // in order; empty where not listed
};

/// InvalidArgument with problems if the file is refused. Stores nothing.
absl::StatusOr<PlanView> FetchPlan(Connection& connection,
                                   const v1::SubmitRequest& request);

/// Exact numbers; the cells under "per_cell", null where they were not listed.
Json PlanJson(const PlanView& plan);

/// Counts by axis and rule, then at most `most` cells.
std::string RenderPlan(const PlanView& plan, size_t most, const Style& style);

}  // namespace leadline::cli
