#include "common/human_number.h"

#include <limits>

#include <gtest/gtest.h>

namespace leadline {
namespace {

TEST(HumanNumberTest, HasThreeDigits) {
  EXPECT_EQ(HumanCount(0), "0");
  EXPECT_EQ(HumanCount(950), "950");
  EXPECT_EQ(HumanCount(999.4), "999");
  EXPECT_EQ(HumanCount(999.6), "1.00k");
  EXPECT_EQ(HumanCount(12596224), "12.6M");
  EXPECT_EQ(HumanCount(999999999), "1.00B");
  EXPECT_EQ(HumanFlops(3.41e15), "3.41 PFLOP");
  EXPECT_EQ(HumanBytes(1536), "1.50 KiB");
  EXPECT_EQ(HumanBytes(812), "812 B");
  EXPECT_EQ(HumanBytes(int64_t{20} << 30), "20.0 GiB");
  EXPECT_EQ(HumanBytes(int64_t{140} << 30), "140 GiB");
}

TEST(HumanNumberTest, AlsoWhatIsBeyondAllUnits) {
  EXPECT_EQ(HumanBytes(-1536), "-1.50 KiB");
  EXPECT_EQ(HumanBytes(std::numeric_limits<int64_t>::max()), "8192 PiB");
  EXPECT_EQ(HumanCount(std::numeric_limits<double>::max()).size(), 294 + 1);
}

}  // namespace
}  // namespace leadline
