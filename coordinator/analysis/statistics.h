// What is said of a cell over its seeds. The one function behind every table,
// document, metric and page; the SQL view cell_results agrees with it.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace leadline::analysis {

/// Of n values. Nothing is claimed that n does not allow: all null at n = 0,
/// sd null below two values.
struct Summary {
  int64_t n = 0;
  std::optional<double> mean;
  std::optional<double> sd;  // of the sample, over n - 1
  std::optional<double> min;
  std::optional<double> max;

  bool operator==(const Summary&) const = default;
};

/// Of losses of one cell, a seed each. Losses equal to the last bit are one run
/// told twice and count once: they would make a spread look smaller than it is.
/// Mean, then the squares about it. A NaN among the values makes everything
/// NaN; an infinite value makes sd NaN.
Summary Summarise(std::span<const double> values);

}  // namespace leadline::analysis
