#include "coordinator/metrics/gauge_family.h"

#include "coordinator/metrics/metric_table.h"

namespace leadline::metrics {

GaugeFamily::GaugeFamily(std::string_view name) {
  const MetricDefinition& metric = FindMetric(name);
  family_.name = metric.name;
  family_.help = metric.help;
  family_.type = metric.type == MetricType::kCounter
                     ? prometheus::MetricType::Counter
                     : prometheus::MetricType::Gauge;
  for (const LabelDefinition& label : metric.labels) {
    labels_.push_back(label.name);
  }
}

void GaugeFamily::Set(const std::vector<std::string>& labels, double value) {
  prometheus::ClientMetric& metric = family_.metric.emplace_back();
  for (size_t i = 0; i < labels.size(); ++i) {
    metric.label.push_back({labels_.at(i), labels[i]});
  }
  if (family_.type == prometheus::MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
}

}  // namespace leadline::metrics
