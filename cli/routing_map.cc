#include "cli/routing_map.h"

#include <algorithm>

namespace leadline::cli {

std::vector<RouterWeights> ReadRoutingMap(const v1::RoutingReply& routing) {
  std::vector<RouterWeights> map;
  for (const v1::RouterRow& row : routing.map()) {
    RouterWeights& router = map.emplace_back();
    const int size = std::min(row.sources_size(), row.weights_size());
    for (int j = 0; j < size; ++j) {
      router.sources.push_back(row.sources(j));
      router.weights.push_back(row.weights(j));
    }
  }
  return map;
}

Figures ReadFigures(const v1::RoutingReply& routing) {
  Figures figures;
  for (const v1::NamedVector& vector : routing.statistics()) {
    figures[vector.name()].assign(vector.values().begin(),
                                  vector.values().end());
  }
  return figures;
}

}  // namespace leadline::cli
