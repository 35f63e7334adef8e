#include "worker/dataset/split_rule.h"

#include <cmath>

#include "worker/dataset/data_error.h"

namespace leadline::dataset {
namespace {

int64_t Part(int64_t total, double fraction) {
  // 0.29 of 100 is 29 though the product of the doubles is below it.
  return static_cast<int64_t>(
      std::floor(static_cast<double>(total) * fraction + 1e-6));
}

}  // namespace

SplitSizes SplitByFractions(int64_t total, const std::array<double, 3>& split) {
  for (const double fraction : split) {
    if (!(fraction >= 0 && fraction <= 1)) {
      throw DataError("a split has a fraction outside 0 to 1");
    }
  }
  if (std::abs(split[0] + split[1] + split[2] - 1) > 1e-9) {
    throw DataError("the fractions of the splits do not sum to 1");
  }
  if (split[0] == 0 || split[1] == 0) {
    throw DataError("training and validation need a fraction above 0");
  }
  SplitSizes sizes;
  sizes.train = Part(total, split[0]);
  sizes.validation = split[2] > 0 ? Part(total, split[1]) : total - sizes.train;
  sizes.test = total - sizes.train - sizes.validation;
  if (sizes.test < 0) sizes.test = 0;
  return sizes;
}

}  // namespace leadline::dataset
