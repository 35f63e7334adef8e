// The losses of cells over their seeds: the same figures as in tables, from the
// same function.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <prometheus/metric_family.h>

#include "coordinator/analysis/statistics.h"
#include "coordinator/control/overview.h"
#include "storage/store_reader.h"

namespace leadline::metrics {

/// Reads a sweep again only where more of its trials have succeeded. Owned by
/// one thread at a time.
class CellGauges {
 public:
  /// It must outlive this.
  explicit CellGauges(const storage::StoreReader& reader) : reader_(reader) {}

  /// Of those sweeps, the newest first where there is no room for all. A sweep
  /// that cannot be read has no series.
  std::vector<prometheus::MetricFamily> Collect(
      const std::vector<control::SweepCounts>& sweeps);

  /// Cells with values that had no room; a sweep without any room counts once.
  int64_t left_out() const { return left_out_; }

 private:
  struct Cell {
    std::vector<std::string> labels;
    analysis::Summary summary;
  };
  struct Read {
    int64_t succeeded = 0;    // trials of the sweep, when it was read
    std::vector<Cell> cells;  // with values, each under labels of its own
    int64_t left_out = 0;
  };

  Read Recall(const control::SweepCounts& sweep);
  Read ReadSweep(const control::SweepCounts& sweep) const;

  const storage::StoreReader& reader_;
  std::map<SweepId, Read> read_;
  int64_t left_out_ = 0;
};

}  // namespace leadline::metrics
