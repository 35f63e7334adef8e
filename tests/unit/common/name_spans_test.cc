#include "common/name_spans.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/float_decimal.h"

namespace leadline {
namespace {

using ::testing::ElementsAre;
using Lists = std::vector<std::vector<std::string>>;

TEST(NameSpans, ReadBackAsTheLists) {
  const Lists lists = {{},
                       {"e"},
                       {"e", "P", "Q"},
                       {"e", "C0", "D0", "P", "Q"},
                       {"C0", "C0", "e"},
                       {"e", "C0", "D0", "C1", "D1", "P"}};
  const NameSpans spans = ToSpans(lists);
  ASSERT_EQ(spans.lists.size(), lists.size());
  for (size_t i = 0; i < lists.size(); ++i) {
    EXPECT_EQ(FromSpans(spans.names, spans.lists[i], lists[i].size()),
              lists[i]);
  }
}

TEST(NameSpans, AGrowingListIsOneSpan) {
  Lists lists;
  std::vector<std::string> list;
  for (int i = 0; i < 100; ++i) {
    list.push_back("u" + std::to_string(i));
    lists.push_back(list);
  }
  const NameSpans spans = ToSpans(lists);
  EXPECT_EQ(spans.names, list);
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(spans.lists[i], ElementsAre(0, i + 1));
  }
}

TEST(NameSpans, WhatDoesNotFitIsRefused) {
  const std::vector<std::string> names = {"a", "b"};
  const auto read = [&](std::vector<int64_t> list, size_t count) {
    return FromSpans(names, list, count);
  };
  EXPECT_TRUE(read({0, 2}, 2).has_value());
  EXPECT_TRUE(read({}, 0).has_value());
  EXPECT_FALSE(read({}, 1).has_value());
  EXPECT_FALSE(read({0, 2}, 1).has_value());
  EXPECT_FALSE(read({0, 2}, 3).has_value());
  EXPECT_FALSE(read({0, 3}, 3).has_value());
  EXPECT_FALSE(read({0}, 1).has_value());
  EXPECT_FALSE(read({-1, 1}, 2).has_value());
  EXPECT_FALSE(read({1, 1}, 0).has_value());
  EXPECT_FALSE(read({2, 1}, 1).has_value());
  const int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(read({0, huge}, std::numeric_limits<size_t>::max()).has_value());
  EXPECT_FALSE(read({-huge, huge}, 1).has_value());
}

TEST(DecimalOf, IsTheShortestDecimal) {
  EXPECT_EQ(DecimalOf(0.1F), 0.1);
  EXPECT_EQ(DecimalOf(-2.5e-7F), -2.5e-7);
  EXPECT_EQ(DecimalOf(16777216.0F), 16777216.0);
  EXPECT_TRUE(std::isnan(DecimalOf(std::nanf(""))));
  EXPECT_EQ(DecimalOf(-std::numeric_limits<float>::infinity()),
            -std::numeric_limits<double>::infinity());
  for (float x = 1e-30F; x < 1e30F; x *= 1.37F) {
    EXPECT_EQ(static_cast<float>(DecimalOf(x)), x);
  }
}

}  // namespace
}  // namespace leadline
