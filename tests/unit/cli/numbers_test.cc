#include "cli/numbers.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace leadline::cli {
namespace {

Style Utf8() { return {.charset = Charset::kUtf8}; }

TEST(DecimalsFor, ShowsTwoDigitsOfTheDeviation) {
  EXPECT_EQ(DecimalsFor(0.0012), 4);
  EXPECT_EQ(DecimalsFor(0.012), 3);
  EXPECT_EQ(DecimalsFor(0.12), 2);
  EXPECT_EQ(DecimalsFor(12.0), 2);
  EXPECT_EQ(DecimalsFor(1e-9), 6);
}

TEST(DecimalsFor, LooksAtTheRoundedDeviation) {
  EXPECT_EQ(DecimalsFor(0.0996), 2);
  EXPECT_EQ(DecimalsFor(0.00999), 3);
}

TEST(DecimalsFor, IsFourWithoutADeviation) {
  EXPECT_EQ(DecimalsFor(std::nullopt), 4);
  EXPECT_EQ(DecimalsFor(0.0), 4);
  EXPECT_EQ(DecimalsFor(std::numeric_limits<double>::quiet_NaN()), 4);
}

std::string Alone(const MeanText& text, const Style& style = Utf8()) {
  return Aligned(text, {text}, style);
}

TEST(MeanAndSd, ShareTheirDecimals) {
  EXPECT_EQ(Alone(MeanAndSd(1.23456, 0.00123, 5, 5, 4)), "1.2346 ± 0.0012 (5)");
  EXPECT_EQ(Alone(MeanAndSd(1.23456, 0.123, 5, 5, 2)), "1.23 ± 0.12 (5)");
}

TEST(MeanAndSd, SaysHowManyOfThePlannedSucceeded) {
  EXPECT_EQ(Alone(MeanAndSd(1.5, 0.25, 3, 5, 2)), "1.50 ± 0.25 (3/5)");
  EXPECT_EQ(Alone(MeanAndSd(1.5, std::nullopt, 1, 1, 2)), "1.50 (1)");
  EXPECT_EQ(Alone(MeanAndSd(std::nullopt, std::nullopt, 0, 5, 2)), "— (0/5)");
}

TEST(MeanAndSd, NeverRoundsADeviationToNothing) {
  EXPECT_EQ(Alone(MeanAndSd(1.5, 3e-9, 2, 2, 4)), "1.5000 ± <0.0001 (2)");
  EXPECT_EQ(Alone(MeanAndSd(1.5, 4.9e-5, 2, 2, 4)), "1.5000 ± <0.0001 (2)");
  EXPECT_EQ(Alone(MeanAndSd(1.5, 5.1e-5, 2, 2, 4)), "1.5000 ± 0.0001 (2)");
  EXPECT_EQ(Alone(MeanAndSd(1.5, 0.0, 2, 2, 4)), "1.5000 ± 0.0000 (2)");
}

TEST(MeanAndSd, IsAsciiWhereThereIsNothingElse) {
  EXPECT_EQ(Alone(MeanAndSd(1.5, 0.25, 2, 2, 2), Style{}), "1.50 +/- 0.25 (2)");
}

TEST(Aligned, PutsSignsAndCountsOfAColumnBelowEachOther) {
  const std::vector<MeanText> column = {
      MeanAndSd(10.25, 0.5, 2, 2, 2), MeanAndSd(9.5, 1e-9, 2, 2, 2),
      MeanAndSd(1.5, std::nullopt, 1, 2, 2),
      MeanAndSd(std::nullopt, std::nullopt, 0, 2, 2)};
  std::string text;
  for (const MeanText& one : column) {
    text += Aligned(one, column, Utf8()) + "\n";
  }
  EXPECT_EQ(text,
            "10.25 ±  0.50 (2)\n"
            " 9.50 ± <0.01 (2)\n"
            " 1.50         (1/2)\n"
            "    —         (0/2)\n");
}

TEST(HumanDuration, UsesTwoUnits) {
  EXPECT_EQ(HumanDuration(0.2), "0 s");
  EXPECT_EQ(HumanDuration(59.4), "59 s");
  EXPECT_EQ(HumanDuration(59.6), "1 min 00 s");
  EXPECT_EQ(HumanDuration(185), "3 min 05 s");
  EXPECT_EQ(HumanDuration(7620), "2 h 07 min");
  EXPECT_EQ(HumanDuration(356400), "4 d 3 h");
  EXPECT_EQ(HumanDuration(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(HumanDuration(std::nan("")), "?");
}

TEST(Grouped, SetsThousandsApart) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1000), "1,000");
  EXPECT_EQ(Grouped(1000000000), "1,000,000,000");
  EXPECT_EQ(Grouped(-1000), "-1,000");
  EXPECT_EQ(Grouped(-100), "-100");
}

TEST(Counted, KnowsOneFromMany) {
  EXPECT_EQ(Counted(0, "trial"), "0 trials");
  EXPECT_EQ(Counted(1, "trial"), "1 trial");
  EXPECT_EQ(Counted(1234, "trial"), "1,234 trials");
}

}  // namespace
}  // namespace leadline::cli
