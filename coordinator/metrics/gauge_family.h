// A family of the table filled anew at each scrape: what is not set then is not
// told, so no series outlives what it describes.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <prometheus/metric_family.h>

namespace leadline::metrics {

class GaugeFamily {
 public:
  /// A gauge of the table, or a counter that somebody else counts.
  explicit GaugeFamily(std::string_view name);

  /// `labels` in the order of the table.
  void Set(const std::vector<std::string>& labels, double value);

  const prometheus::MetricFamily& family() const { return family_; }

 private:
  prometheus::MetricFamily family_;
  std::vector<std::string> labels_;
};

}  // namespace leadline::metrics
