// How routers spread their weights over sources.
//
// Shape suffixes: R replicas, J sources.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/probes/figures.h"
#include "model/router/observer.h"

namespace leadline::model {

/// Writes the figures `route.*` but `route.ratio` of every router to a table
/// that outlives it. Owned by one thread.
class RoutingProbe final : public RouterObserver {
 public:
  RoutingProbe(int64_t block_sublayers, FigureTable& table)
      : block_sublayers_(block_sublayers), table_(table) {}

  void OnRoute(const RouteRecord& record) override;

  /// Mean weights by router, for each replica. Forgets the figures of kinds of
  /// sources that no router had: call it once, after the pass.
  std::vector<std::vector<RouterRow>> Finish(int64_t replicas);

 private:
  struct Row {
    std::vector<std::string> labels;
    torch::Tensor mean_JR;
  };

  void AddMasses(const RouteRecord& record, const torch::Tensor& mean_JR);

  int64_t block_sublayers_;
  FigureTable& table_;
  std::vector<Row> rows_;
  bool has_details_ = false;
  bool has_null_ = false;
};

}  // namespace leadline::model
