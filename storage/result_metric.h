// The metrics of a result: what can be asked of a cell.

#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/status.h>

#include "storage/records.h"

namespace leadline::storage {

/// A metric of results, and the split it was measured on.
struct ResultMetric {
  std::string_view name;
  std::string_view split;
};

inline constexpr std::array kResultMetrics = {
    ResultMetric{"validation_loss", "validation"},
    ResultMetric{"test_loss", "test"},
    ResultMetric{"best_validation_loss", "validation"}};

/// Null unless it is one of the metrics above.
inline const ResultMetric* FindResultMetric(std::string_view name) {
  for (const ResultMetric& metric : kResultMetrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

/// The code and message for a metric that is none of them.
inline absl::Status NoSuchMetric(const std::string& name) {
  return absl::InvalidArgumentError(
      "no metric " + name +
      "; choose validation_loss, test_loss or best_validation_loss");
}

/// Null where the result lacks it.
inline std::optional<double> ValueOf(const ResultRecord& result,
                                     std::string_view metric) {
  if (metric == "validation_loss") return result.validation_loss;
  if (metric == "test_loss") return result.test_loss;
  if (metric == "best_validation_loss") return result.best_validation_loss;
  return std::nullopt;
}

}  // namespace leadline::storage
