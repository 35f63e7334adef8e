// What routers did on one batch: mean weights of every source, and the figures
// that follow from the weights of single tokens.
//
// Shape suffixes: J sources, R replicas, B sequences, T tokens.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/router/observer.h"

namespace leadline::model {

/// Mean weight of each source of one router.
struct RouterRow {
  std::vector<std::string> sources;  // labels, in list order
  std::vector<double> weights;
};

/// The routing of one replica.
struct RoutingSummary {
  std::vector<RouterRow> map;  // by router
  /// By name, one value a router, means over tokens:
  /// route.max_weight       max_j a_j
  /// route.entropy          -sum_j a_j ln a_j, nats
  /// route.embedding_mass   weight of the embeddings
  /// route.detail_mass      weight of all details, and its four parts
  ///                        .phase_finished, .phase_partial, .split_finished,
  ///                        .split_partial
  std::map<std::string, std::vector<double>> statistics;
};

/// Pass one to a single forward call, then ask for the summaries. Owned by one
/// thread.
class RoutingProbe final : public RouterObserver {
 public:
  explicit RoutingProbe(int64_t replicas) : summaries_(replicas) {}

  /// Routers arrive in order 0, 1, ....
  void OnRoute(const RouteRecord& record) override;

  /// One a replica; maps are empty for methods without routers.
  const std::vector<RoutingSummary>& summaries() const { return summaries_; }

 private:
  std::vector<RoutingSummary> summaries_;
};

}  // namespace leadline::model
