// The routing of a trial as it came, unpacked.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "leadline/v1/results_service.pb.h"

namespace leadline::cli {

/// Mean weights of one router: nothing where there is no such router.
struct RouterWeights {
  std::vector<std::string> sources;
  std::vector<double> weights;  // as many
};

/// By router.
std::vector<RouterWeights> ReadRoutingMap(const v1::RoutingReply& routing);

/// Figures by name, an element a router, sublayer, block, ...
using Figures = std::map<std::string, std::vector<double>>;
Figures ReadFigures(const v1::RoutingReply& routing);

}  // namespace leadline::cli
