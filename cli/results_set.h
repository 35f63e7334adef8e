// The results of a sweep, as fetched and as printed for programs.

#pragma once

#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "cli/connection.h"
#include "cli/json.h"
#include "cli/table.h"

namespace leadline::cli {

struct ResultsSet {
  v1::ResultsHeader header;
  std::vector<v1::CellResult> cells;  // in order
  std::string host;                   // of the database; empty: this machine
};

/// NotFound if there is no such sweep.
absl::StatusOr<ResultsSet> FetchResults(Connection& connection,
                                        v1::ResultsRequest request);

/// The document of interfaces' section on JSON.
Json ResultsJson(const ResultsSet& results);

/// A row a cell, numbers that read back bit for bit.
Table ResultsRows(const ResultsSet& results);

}  // namespace leadline::cli
