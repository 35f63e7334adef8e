#include "coordinator/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace leadline::analysis {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double MeanOf(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double DeviationOf(std::span<const double> values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace

Summary Summarise(std::span<const double> values) {
  Summary summary;
  summary.n = std::ssize(values);
  if (values.empty()) return summary;
  const double mean = MeanOf(values);
  summary.mean = mean;
  if (values.size() > 1) summary.sd = DeviationOf(values, mean);
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  const bool ordered = std::none_of(values.begin(), values.end(),
                                    [](double x) { return std::isnan(x); });
  summary.min = ordered ? *min : kNan;
  summary.max = ordered ? *max : kNan;
  return summary;
}

}  // namespace leadline::analysis
