// The results of a sweep, page by page: a header, then cells in order.

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "coordinator/analysis/warnings.h"
#include "leadline/v1/results_service.pb.h"
#include "storage/store_reader.h"

namespace leadline::rpc {

/// A metric of results and the split it belongs to.
struct MetricChoice {
  std::string metric;
  std::string split;
};

/// What was asked for, empty words filled in. InvalidArgument, naming the
/// choices, if there is no such metric or split or they do not go together.
absl::StatusOr<MetricChoice> ChooseMetric(const std::string& metric,
                                          const std::string& split);

/// Owned by one thread at a time.
class ResultsPages {
 public:
  /// `database` is the path that is shown. The reader must outlive this.
  ResultsPages(const storage::StoreReader& reader, std::string database,
               v1::ResultsRequest request)
      : reader_(reader),
        database_(std::move(database)),
        request_(std::move(request)) {}

  /// The header first, then some cells a call; empty after the last. NotFound
  /// and InvalidArgument as in the protocol.
  absl::StatusOr<std::vector<v1::ResultsPart>> Next();

 private:
  absl::StatusOr<std::vector<v1::ResultsPart>> Header();
  absl::Status ReadForHeader(analysis::Warnings& warnings,
                             v1::ResultsHeader& header);
  absl::Status ReadCells();
  size_t Keep(const storage::CellValues& values);  // bytes it takes
  std::vector<v1::ResultsPart> TakePage();
  std::vector<v1::ResultsPart> TakePageOfMany();

  const storage::StoreReader& reader_;
  const std::string database_;
  const v1::ResultsRequest request_;
  bool begun_ = false;
  SweepId sweep_;
  MetricChoice choice_;
  int64_t after_ = 0;  // number of the last cell that was sent or is kept
  /// Cells read and not given out. The header is made from all cells: those it
  /// leaves here are not read twice.
  std::deque<v1::CellResult> kept_;
  bool all_kept_ = false;  // up to the last cell
};

}  // namespace leadline::rpc
