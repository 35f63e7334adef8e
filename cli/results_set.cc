#include "cli/results_set.h"

#include <set>

#include <fmt/format.h>

#include "tls/host_port.h"

namespace leadline::cli {
namespace {

Json AxesJson(const v1::CellResult& cell) {
  // A proto map has no order of its own.
  const std::map<std::string, std::string> sorted(cell.axes().begin(),
                                                  cell.axes().end());
  Json axes = Json::object();
  for (const auto& [key, value] : sorted) axes[key] = value;
  return axes;
}

Json CellJson(const v1::CellResult& cell) {
  Json values = Json::array();
  for (const v1::SeedValue& value : cell.values()) {
    values.push_back({{"trial", value.trial()},
                      {"seed", value.seed()},
                      {"value", JsonNumber(value.value())}});
  }
  return {{"cell", cell.cell()},
          {"depth", cell.depth()},
          {"dataset", cell.dataset()},
          {"method", cell.method()},
          {"n", cell.n()},
          {"planned", cell.planned()},
          {"diverged", cell.diverged()},
          {"failed", cell.failed()},
          {"floor", JsonOptional(cell.has_floor(), cell.floor())},
          {"mean", JsonOptional(cell.has_mean(), cell.mean())},
          {"sd", JsonOptional(cell.has_sd(), cell.sd())},
          {"min", JsonOptional(cell.has_min(), cell.min())},
          {"max", JsonOptional(cell.has_max(), cell.max())},
          {"values", values},
          {"axes", AxesJson(cell)}};
}

std::string Number(bool present, double value) {
  return present ? fmt::format("{}", value) : "";
}

}  // namespace

absl::StatusOr<ResultsSet> FetchResults(Connection& connection,
                                        v1::ResultsRequest request) {
  request.set_many_cells(true);
  ResultsSet results;
  const auto at = tls::ParseHostPort(connection.address());
  if (at && !tls::IsLoopback(at->host)) results.host = at->host;
  absl::Status status = connection.ReadAll<v1::ResultsPart>(
      [&](grpc::ClientContext* context, auto* reactor) {
        connection.results().async()->Results(context, &request, reactor);
      },
      [&](const v1::ResultsPart& part) {
        if (part.has_header()) results.header = part.header();
        // A coordinator of before sends them one by one.
        if (part.has_cell()) results.cells.push_back(part.cell());
        results.cells.insert(results.cells.end(), part.cells().cells().begin(),
                             part.cells().cells().end());
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return results;
}

Json ResultsJson(const ResultsSet& results) {
  Json cells = Json::array();
  for (const v1::CellResult& cell : results.cells) {
    cells.push_back(CellJson(cell));
  }
  const v1::ResultsHeader& header = results.header;
  return {{"sweep", header.sweep()},
          {"name", header.name()},
          {"database", header.database()},
          {"metric", header.metric()},
          {"unit", header.unit()},
          {"split", header.split()},
          {"complete", header.complete()},
          {"failed", header.failed()},
          {"diverged", header.diverged()},
          {"cancelled", header.cancelled()},
          {"never_began", header.never_began()},
          {"state", header.state()},
          {"orphan_attempts", header.orphan_attempts()},
          {"orphan_records", header.orphan_records()},
          {"warnings", std::vector<std::string>(header.warnings().begin(),
                                                header.warnings().end())},
          {"cells", cells}};
}

Table ResultsRows(const ResultsSet& results) {
  std::set<std::string> axes;
  for (const v1::CellResult& cell : results.cells) {
    for (const auto& [key, value] : cell.axes()) axes.insert(key);
  }
  for (const char* key : {"depth", "dataset", "method"}) axes.erase(key);

  Table table;
  for (const char* title : {"cell", "depth", "dataset", "method"}) {
    table.columns.push_back({title});
  }
  for (const std::string& axis : axes) table.columns.push_back({axis});
  for (const char* title : {"n", "planned", "diverged", "failed", "floor",
                            "mean", "sd", "min", "max"}) {
    table.columns.push_back({title, Align::kRight});
  }
  for (const v1::CellResult& cell : results.cells) {
    std::vector<std::string> row = {cell.cell(), std::to_string(cell.depth()),
                                    cell.dataset(), cell.method()};
    for (const std::string& axis : axes) {
      const auto value = cell.axes().find(axis);
      row.push_back(value == cell.axes().end() ? "" : value->second);
    }
    for (const int64_t count :
         {cell.n(), cell.planned(), cell.diverged(), cell.failed()}) {
      row.push_back(std::to_string(count));
    }
    row.push_back(Number(cell.has_floor(), cell.floor()));
    row.push_back(Number(cell.has_mean(), cell.mean()));
    row.push_back(Number(cell.has_sd(), cell.sd()));
    row.push_back(Number(cell.has_min(), cell.min()));
    row.push_back(Number(cell.has_max(), cell.max()));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace leadline::cli
