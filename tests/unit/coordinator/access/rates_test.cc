#include "coordinator/access/rates.h"

#include <gtest/gtest.h>

namespace leadline::access {
namespace {

using std::chrono::milliseconds;
const Rates::Time kStart{};

int Taken(Rates& rates, const std::string& who, int tries, Rates::Time now) {
  int taken = 0;
  for (int i = 0; i < tries; ++i) taken += rates.Take(who, now) ? 1 : 0;
  return taken;
}

TEST(RatesTest, ABurstIsAllowedAndThenTheLongRun) {
  Rates rates(10, 40);
  EXPECT_EQ(Taken(rates, "a", 100, kStart), 40);
  EXPECT_EQ(Taken(rates, "a", 100, kStart + milliseconds(1000)), 10);
  EXPECT_EQ(Taken(rates, "a", 100, kStart + milliseconds(1050)), 0);
  EXPECT_EQ(Taken(rates, "a", 100, kStart + milliseconds(1100)), 1);
  EXPECT_EQ(Taken(rates, "a", 100, kStart + milliseconds(60'000)), 40);
}

TEST(RatesTest, OneCallerTakesNothingFromAnother) {
  Rates rates(1, 3);
  EXPECT_EQ(Taken(rates, "reader", 50, kStart), 3);
  EXPECT_EQ(Taken(rates, "agent", 3, kStart), 3);
}

TEST(RatesTest, AClockThatStandsStillGivesNothing) {
  Rates rates(1000, 1);
  EXPECT_EQ(Taken(rates, "a", 5, kStart + milliseconds(5)), 1);
  EXPECT_EQ(Taken(rates, "a", 5, kStart), 0);
}

}  // namespace
}  // namespace leadline::access
