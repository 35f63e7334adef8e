#include "coordinator/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leadline {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr control::SteadyTime kBegin{std::chrono::hours(1)};

TEST(HealthTest, IsWellWhileTurnsCome) {
  Health health;
  EXPECT_EQ(health.WhyNotAlive(kBegin), "") << "none is due yet";
  health.OnTurn(kBegin, "");
  EXPECT_EQ(health.WhyNotReady(kBegin + seconds(5)), "");
  EXPECT_EQ(health.WhyNotAlive(kBegin + seconds(60)), "");
}

TEST(HealthTest, SaysHowLongNothingWasDecided) {
  Health health;
  health.OnTurn(kBegin, "");
  EXPECT_THAT(health.WhyNotReady(kBegin + seconds(7)), HasSubstr("for 7 s"));
  EXPECT_EQ(health.WhyNotAlive(kBegin + seconds(7)), "");
  EXPECT_THAT(health.WhyNotAlive(kBegin + seconds(61)), HasSubstr("for 61 s"));
  health.OnTurn(kBegin + seconds(62), "");
  EXPECT_EQ(health.WhyNotAlive(kBegin + seconds(62)), "");
}

TEST(HealthTest, DiskThatRefusesIsNotReadyAndAlive) {
  Health health;
  health.OnTurn(kBegin, "the disk is full");
  EXPECT_THAT(health.WhyNotReady(kBegin), HasSubstr("the disk is full"));
  EXPECT_EQ(health.WhyNotAlive(kBegin), "");
  health.OnTurn(kBegin, "");
  EXPECT_EQ(health.WhyNotReady(kBegin), "");
}

}  // namespace
}  // namespace leadline
