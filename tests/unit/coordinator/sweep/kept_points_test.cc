#include "coordinator/sweep/kept_points.h"

#include <gtest/gtest.h>

#include "common/random_stream.h"

namespace leadline::sweep {
namespace {

/// Random grids and boxes, a function of the seed.
class Case {
 public:
  explicit Case(uint64_t seed) : draws_(seed, "test/kept_points") {
    const int64_t count = Below(5);
    for (int64_t d = 0; d < count; ++d) {
      dimensions.push_back({{}, 1 + Below(4)});
    }
    const int64_t boxes = Below(7);
    for (int64_t b = 0; b < boxes; ++b) excluded.push_back(RandomBox());
    within = RandomBox();
  }

  std::vector<Dimension> dimensions;
  std::vector<Box> excluded;
  Box within;

 private:
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(
        draws_.Integer(next_++, static_cast<uint64_t>(n)));
  }

  Box RandomBox() {
    Box box;
    box.is_empty = Below(10) == 0;
    box.belongs.resize(dimensions.size());
    for (size_t d = 0; d < dimensions.size(); ++d) {
      if (Below(2) == 0) continue;
      for (int64_t i = 0; i < dimensions[d].size; ++i) {
        box.belongs[d].push_back(Below(2) == 0);
      }
    }
    return box;
  }

  RandomStream draws_;
  uint64_t next_ = 0;
};

bool Contains(const Box& box, const Point& point) {
  if (box.is_empty) return false;
  for (size_t d = 0; d < point.size(); ++d) {
    if (!box.belongs[d].empty() &&
        !box.belongs[d][static_cast<size_t>(point[d])]) {
      return false;
    }
  }
  return true;
}

/// The same by visiting every point of the grid.
std::vector<Point> ByBruteForce(const Case& test) {
  std::vector<Point> kept;
  Point point(test.dimensions.size(), 0);
  for (;;) {
    bool is_kept = Contains(test.within, point);
    for (const Box& box : test.excluded) {
      is_kept = is_kept && !Contains(box, point);
    }
    if (is_kept) kept.push_back(point);
    size_t d = point.size();
    while (d > 0 && ++point[d - 1] == test.dimensions[d - 1].size) {
      point[--d] = 0;
    }
    if (d == 0) return kept;
  }
}

TEST(KeptPoints, CountsAndVisitsLikeBruteForce) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const Case test(seed);
    const std::vector<Point> expected = ByBruteForce(test);
    KeptPoints kept(test.dimensions, test.excluded, test.within);
    ASSERT_EQ(kept.Count(), static_cast<int64_t>(expected.size())) << seed;
    std::vector<Point> visited;
    kept.ForEach([&](const Point& point) {
      visited.push_back(point);
      return true;
    });
    ASSERT_EQ(visited, expected) << seed;
  }
}

TEST(KeptPoints, StopsWhenToldTo) {
  const std::vector<Dimension> dimensions(3, {{}, 10});
  Box all;
  all.belongs.resize(3);
  KeptPoints kept(dimensions, {}, all);
  EXPECT_EQ(kept.Count(), 1000);
  int visits = 0;
  kept.ForEach([&](const Point&) { return ++visits < 5; });
  EXPECT_EQ(visits, 5);
}

TEST(KeptPoints, CountsWhatItCouldNeverVisit) {
  const std::vector<Dimension> dimensions(12, {{}, 10});
  Box all;
  all.belongs.resize(12);
  std::vector<Box> excluded;
  for (size_t d = 0; d < 12; ++d) {
    Box box = all;
    box.belongs[d].assign(10, false);
    box.belongs[d][d % 10] = true;
    excluded.push_back(box);
  }
  KeptPoints kept(dimensions, excluded, all);
  EXPECT_EQ(kept.Count(), 282'429'536'481) << "9^12";
}

TEST(KeptPoints, VisitsFewOfManyAtOnce) {
  const std::vector<Dimension> dimensions(9, {{}, 10});
  Box all;
  all.belongs.resize(9);
  std::vector<Box> excluded;
  for (size_t d = 0; d < 9; ++d) {
    Box box = all;
    box.belongs[d].assign(10, true);
    box.belongs[d][9] = false;
    excluded.push_back(box);
  }
  KeptPoints kept(dimensions, excluded, all);
  EXPECT_EQ(kept.Count(), 1);
  kept.ForEach([](const Point& point) {
    EXPECT_EQ(point, Point(9, 9));
    return true;
  });
}

TEST(KeptPoints, GivesUpOnHostileRules) {
  const std::vector<Dimension> dimensions(40, {{}, 3});
  Box all;
  all.belongs.resize(40);
  std::vector<Box> excluded;
  const RandomStream draws(1, "test/hostile");
  uint64_t next = 0;
  for (int b = 0; b < 256; ++b) {
    Box box = all;
    for (int d = 0; d < 40; ++d) {
      for (int i = 0; i < 3; ++i) {
        box.belongs[d].push_back(draws.Integer(next++, 5) != 0);
      }
    }
    excluded.push_back(box);
  }
  EXPECT_EQ(KeptPoints(dimensions, excluded, all).Count(), std::nullopt);
}

}  // namespace
}  // namespace leadline::sweep
