#include "common/nearest_name.h"

#include <gtest/gtest.h>

namespace leadline {
namespace {

const std::vector<std::string_view> kNames = {"depth", "d_model", "lr",
                                              "block_sublayers"};

TEST(DidYouMean, NamesTheNearest) {
  EXPECT_EQ(DidYouMean("dpeth", kNames), ", did you mean depth?");
  EXPECT_EQ(DidYouMean("d_modle", kNames), ", did you mean d_model?");
  EXPECT_EQ(DidYouMean("block_sublayer", kNames),
            ", did you mean block_sublayers?");
  EXPECT_EQ(DidYouMean("l", kNames), ", did you mean lr?");
  EXPECT_EQ(DidYouMean("dpeth", kNames, "--"), ", did you mean --depth?");
}

TEST(DidYouMean, TakesOfAShortNameOneWrongLetterAndNoMore) {
  const std::vector<std::string_view> names = {"rho", "lr", "seeds", "k"};
  EXPECT_EQ(DidYouMean("foo", names), "");
  EXPECT_EQ(DidYouMean("who", names), ", did you mean rho?");
  EXPECT_EQ(DidYouMean("x", names), "");
  EXPECT_EQ(DidYouMean("step", names), "");
  EXPECT_EQ(DidYouMean("sees", names), ", did you mean seeds?");
}

TEST(DidYouMean, StaysSilentWhereNothingIsNear) {
  EXPECT_EQ(DidYouMean("temperature", kNames), "");
  EXPECT_EQ(DidYouMean("", kNames), "");
  EXPECT_EQ(DidYouMean(std::string(1'000'000, 'x'), kNames), "");
}

}  // namespace
}  // namespace leadline
