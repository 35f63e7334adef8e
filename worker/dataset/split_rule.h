// Where a text is cut into training, validation and test.

#pragma once

#include <array>
#include <cstdint>

namespace leadline::dataset {

/// Sizes of training, validation and test, in characters; they sum to `total`.
struct SplitSizes {
  int64_t train = 0;
  int64_t validation = 0;
  int64_t test = 0;
  bool operator==(const SplitSizes&) const = default;
};

/// Each size is its fraction of `total` rounded down; the last split with a
/// fraction above 0 takes what remains. Throws DataError unless the fractions
/// are in [0, 1], sum to 1, and give training and validation something.
SplitSizes SplitByFractions(int64_t total, const std::array<double, 3>& split);

}  // namespace leadline::dataset
