#include "common/repeated_news.h"

#include <vector>

#include <gmock/gmock.h>

namespace leadline {
namespace {

TEST(RepeatedNews, IsToldAtOnceAndThenEverMoreRarely) {
  RepeatedNews news;
  std::vector<int> told;
  RepeatedNews::SteadyTime now{};
  for (int second = 0; second < 2000; ++second) {
    if (news.IsDue("a", now)) told.push_back(second);
    news.IsDue("b", now);  // in turns with another
    now += std::chrono::seconds(1);
  }
  EXPECT_THAT(told, testing::ElementsAre(0, 60, 180, 420, 900, 1860));
  EXPECT_FALSE(news.IsDue("a", now));
  news.Forget();
  EXPECT_TRUE(news.IsDue("a", now));
}

TEST(RepeatedNews, IsToldOnceAnHourInTheEnd) {
  RepeatedNews news;
  int told = 0;
  RepeatedNews::SteadyTime now{};
  for (int minute = 0; minute < 48 * 60; ++minute) {
    if (news.IsDue("a", now)) ++told;
    now += std::chrono::minutes(1);
  }
  EXPECT_GE(told, 47);
  EXPECT_LE(told, 55);
}

TEST(RepeatedNews, OfWhateverLengthAndNumberTakesBoundedRoom) {
  RepeatedNews news;
  const RepeatedNews::SteadyTime now{};
  const std::string text(1 << 20, 'x');
  EXPECT_TRUE(news.IsDue(text + "a", now));
  EXPECT_FALSE(news.IsDue(text + "b", now));  // alike for as far as is kept
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(news.IsDue(std::to_string(i), now));
  }
}

}  // namespace
}  // namespace leadline
