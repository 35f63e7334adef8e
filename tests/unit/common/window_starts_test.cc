#include "common/window_starts.h"

#include <set>

#include <gtest/gtest.h>

namespace leadline {
namespace {

TEST(WindowStarts, ReachFromTheFirstSymbolToTheLastWholeWindowAndItsTarget) {
  const std::vector<int64_t> starts = WindowStarts(1, 2, 0, 200, 7, 4);
  EXPECT_EQ(std::set<int64_t>(starts.begin(), starts.end()),
            (std::set<int64_t>{0, 1, 2}));
}

TEST(WindowStarts, OfAPartAreThoseOfTheWholeBatch) {
  const std::vector<int64_t> all = WindowStarts(3, 5, 0, 8, 1000, 16);
  const std::vector<int64_t> part = WindowStarts(3, 5, 6, 2, 1000, 16);
  EXPECT_EQ(part, std::vector<int64_t>(all.begin() + 6, all.end()));
}

TEST(WindowStarts, DependOnSeedAndStep) {
  const auto starts = [](uint64_t seed, int64_t step) {
    return WindowStarts(seed, step, 0, 8, 1000, 16);
  };
  EXPECT_EQ(starts(1, 1), starts(1, 1));
  EXPECT_NE(starts(1, 1), starts(2, 1));
  EXPECT_NE(starts(1, 1), starts(1, 2));
}

}  // namespace
}  // namespace leadline
