// What this process takes of the machine, under the names every exporter uses.

#pragma once

#include <vector>

#include <prometheus/metric_family.h>

namespace leadline::metrics {

/// From /proc; what cannot be read is left out.
std::vector<prometheus::MetricFamily> CollectProcess();

}  // namespace leadline::metrics
