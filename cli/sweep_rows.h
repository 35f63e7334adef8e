// Sweeps and trials, fetched page by page.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "cli/connection.h"
#include "cli/json.h"
#include "cli/terminal.h"

namespace leadline::cli {

/// `sweeps` is a part of the list where it is shorter than `total`.
struct SweepList {
  std::vector<v1::SweepSummary> sweeps;  // newest first
  int64_t total = 0;
};

/// Those that `wanted` says, whatever its `limit` and `before`.
absl::StatusOr<SweepList> FetchSweeps(Connection& connection, int64_t limit,
                                      v1::ListSweepsRequest wanted);

struct TrialList {
  std::vector<v1::TrialSummary> trials;  // in order
  int64_t total = 0;
  std::string sweep;
};

/// Trials of a sweep, a prefix of a name, or a cell. NotFound if there is no
/// such thing. No limit: all. `failed_kind`, where it is not empty: those alone
/// of which an attempt failed so.
absl::StatusOr<TrialList> FetchTrials(Connection& connection,
                                      const std::string& target,
                                      std::optional<int64_t> limit,
                                      const std::string& failed_kind = "");

/// The row of that sweep. NotFound if there is none.
absl::StatusOr<v1::SweepSummary> FetchSweep(Connection& connection,
                                            const std::string& sweep);

/// "paper, draft".
std::string TagsText(const v1::SweepSummary& sweep, const Style& style);

/// Named as the columns of the views.
Json SweepJson(const v1::SweepSummary& sweep);
Json TrialJson(const v1::TrialSummary& trial);

}  // namespace leadline::cli
