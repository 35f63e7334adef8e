// The page /metrics: what was counted, and what is so right now.

#pragma once

#include <functional>
#include <mutex>
#include <string>

#include <absl/base/thread_annotations.h>

#include "coordinator/control/overview.h"
#include "coordinator/metrics/cell_gauges.h"
#include "coordinator/metrics/counters.h"
#include "coordinator/metrics/shown_sweeps.h"
#include "storage/store_reader.h"

namespace leadline::metrics {

struct ExpositionParts {
  const Counters& counters;            // outlives it
  const storage::StoreReader& reader;  // outlives it
  std::string version;
  std::string commit;
  std::function<control::SteadyTime()> now;
};

/// Thread-safe.
class Exposition {
 public:
  explicit Exposition(ExpositionParts parts);

  /// The newest state of control. Never waits for a page that is being made.
  void Take(control::Overview overview);

  /// In Prometheus' text format. Reads the store; may take some milliseconds.
  std::string Text();

 private:
  const ExpositionParts parts_;

  std::mutex overview_mutex_;
  control::Overview overview_ ABSL_GUARDED_BY(overview_mutex_);
  ShownSweeps sweeps_ ABSL_GUARDED_BY(overview_mutex_);

  std::mutex cells_mutex_;  // one page at a time reads the store
  CellGauges cells_ ABSL_GUARDED_BY(cells_mutex_);
};

}  // namespace leadline::metrics
