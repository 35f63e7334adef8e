// Every metric of the coordinator: its name, type, help and labels. The one
// home of them; docs/metrics.md is written from it.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace leadline::metrics {

enum class MetricType { kCounter, kGauge, kHistogram };

struct LabelDefinition {
  std::string name;
  /// All there are; empty where they depend on what runs, within `bound`.
  std::vector<std::string> values;
  std::string bound;  // for people: what the values are, and how many at most
};

struct MetricDefinition {
  std::string name;
  MetricType type = MetricType::kGauge;
  std::string help;
  std::vector<LabelDefinition> labels;
  std::vector<double> buckets;  // upper bounds, of a histogram

  const LabelDefinition& Label(std::string_view label) const;
};

/// In the order of the page.
const std::vector<MetricDefinition>& MetricTable();

/// A name that is not in the table is a mistake of ours: std::logic_error.
const MetricDefinition& FindMetric(std::string_view name);

/// "counter".
std::string_view Name(MetricType type);

/// The page docs/metrics.md.
std::string MetricsPage();

}  // namespace leadline::metrics
