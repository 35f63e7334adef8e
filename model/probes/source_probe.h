// How large the sources are, and how alike.
//
// Shape suffixes: R replicas, B sequences, T tokens, D width.

#pragma once

#include <set>
#include <string>

#include <torch/torch.h>

#include "model/probes/figures.h"
#include "model/router/observer.h"

namespace leadline::model {

/// Writes `source.cosine` of every router and `source.rms` of the sources that
/// last, to a table that outlives it. Details and null sources do not count.
/// Owned by one thread.
class SourceProbe final : public RouterObserver {
 public:
  explicit SourceProbe(FigureTable& table) : table_(table) {}

  void OnRoute(const RouteRecord& record) override;

 private:
  FigureTable& table_;
  std::set<std::string> seen_;    // lasting sources, for `source.rms`
  std::set<std::string> summed_;  // those in the sum
  /// Sum of unit vectors of lasting sources: it grows from router to router, so
  /// that a pass costs one addition a source, not one a source and router.
  torch::Tensor sum_RBTD_;
};

}  // namespace leadline::model
