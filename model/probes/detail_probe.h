// How large details are beside the sums of their blocks.

#pragma once

#include <string>

#include "model/probes/figures.h"
#include "model/router/observer.h"

namespace leadline::model {

/// Writes `detail.rms_ratio.*` and `detail.clipped.*`: of finished blocks by
/// block, of the running one by router. The table outlives it. Owned by one
/// thread.
class DetailProbe final : public RouterObserver {
 public:
  /// `rho` is the largest factor of a detail's value.
  DetailProbe(double rho, FigureTable& table) : rho_(rho), table_(table) {}

  void OnRoute(const RouteRecord& record) override;

 private:
  double rho_;
  FigureTable& table_;
  int64_t finished_ = 0;  // blocks whose details are written
};

}  // namespace leadline::model
