#include "coordinator/analysis/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_set>
#include <vector>

namespace leadline::analysis {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// In their order, each once.
std::vector<double> Distinct(std::span<const double> values) {
  std::unordered_set<uint64_t> seen;
  std::vector<double> distinct;
  for (const double value : values) {
    if (seen.insert(std::bit_cast<uint64_t>(value)).second) {
      distinct.push_back(value);
    }
  }
  return distinct;
}

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

Summary Summarise(std::span<const double> losses) {
  const std::vector<double> values = Distinct(losses);
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
