#include "coordinator/analysis/statistics.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace leadline::analysis {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Summary Of(const std::vector<double>& values) { return Summarise(values); }

TEST(Statistics, NothingIsSaidOfNoValues) { EXPECT_EQ(Of({}), Summary{}); }

TEST(Statistics, OneValueHasNoDeviation) {
  const Summary summary = Of({1.5});
  EXPECT_EQ(summary.n, 1);
  EXPECT_EQ(summary.mean, 1.5);
  EXPECT_EQ(summary.sd, std::nullopt);
  EXPECT_EQ(summary.min, 1.5);
  EXPECT_EQ(summary.max, 1.5);
}

TEST(Statistics, DeviationIsOfTheSample) {
  const Summary summary = Of({1, 2, 6});
  EXPECT_EQ(summary.mean, 3.0);
  EXPECT_NEAR(*summary.sd, 2.6457513110645907, 1e-15);
  EXPECT_EQ(summary.min, 1.0);
  EXPECT_EQ(summary.max, 6.0);
}

TEST(Statistics, LossesEqualToTheLastBitAreOneRunAndCountOnce) {
  EXPECT_EQ(Of({0.1, 0.3, 0.1, 0.1}), Of({0.1, 0.3}));
  EXPECT_EQ(Of({0.1, 0.1}).sd, std::nullopt);
  EXPECT_EQ(Of({0.1, std::nextafter(0.1, 1)}).n, 2);
}

TEST(Statistics, SmallDifferencesOfLargeValuesSurvive) {
  EXPECT_NEAR(*Of({1e9 + 1, 1e9 + 2, 1e9 + 3}).sd, 1.0, 1e-12);
}

TEST(Statistics, NanIsNotHidden) {
  const Summary summary = Of({1.0, kNan, 2.0});
  EXPECT_EQ(summary.n, 3);
  EXPECT_TRUE(std::isnan(*summary.mean));
  EXPECT_TRUE(std::isnan(*summary.sd));
  EXPECT_TRUE(std::isnan(*summary.min));
  EXPECT_TRUE(std::isnan(*summary.max));
}

TEST(Statistics, AnInfiniteValueHasNoDeviation) {
  const Summary summary = Of({1.0, kInf});
  EXPECT_EQ(summary.mean, kInf);
  EXPECT_TRUE(std::isnan(*summary.sd));
  EXPECT_EQ(summary.min, 1.0);
  EXPECT_EQ(summary.max, kInf);
}

}  // namespace
}  // namespace leadline::analysis
