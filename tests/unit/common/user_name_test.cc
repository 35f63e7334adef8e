#include "common/user_name.h"

#include <gtest/gtest.h>

namespace leadline {
namespace {

TEST(UserName, RootHasOne) {
  EXPECT_EQ(UserName(0), "root");
  EXPECT_EQ(UserText(0), "root");
}

TEST(UserName, OfWhomTheSystemDoesNotKnowIsANumber) {
  constexpr uid_t kNobodyKnows = 3'999'999'999;
  EXPECT_EQ(UserName(kNobodyKnows), "");
  EXPECT_EQ(UserText(kNobodyKnows), "3999999999");
}

}  // namespace
}  // namespace leadline
