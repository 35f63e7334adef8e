#include "proto/protocol_version.h"

#include <gtest/gtest.h>

namespace leadline {
namespace {

TEST(ProtocolVersionTest, RangesThatOverlapUnderstandEachOther) {
  EXPECT_EQ(WhyNotUnderstood("a", {1, 3}, "b", {3, 5}), "");
  EXPECT_EQ(WhyNotUnderstood("a", {3, 5}, "b", {1, 3}), "");
  EXPECT_EQ(WhyNotUnderstood("a", kProtocol, "b", kProtocol), "");
}

TEST(ProtocolVersionTest, TheOlderProgramIsTheOneToUpdate) {
  EXPECT_EQ(WhyNotUnderstood("leadline-coordinator", {3, 5}, "leadline-agent n",
                             {1, 2}),
            "leadline-agent n speaks protocol 1 to 2, leadline-coordinator 3 "
            "to 5; update leadline-agent n");
  EXPECT_EQ(WhyNotUnderstood("leadline-coordinator", {1, 2}, "leadline-agent n",
                             {4, 4}),
            "leadline-agent n speaks protocol 4, leadline-coordinator 1 to 2; "
            "update leadline-coordinator");
}

TEST(ProtocolVersionTest, OfThisBuildIsARange) {
  EXPECT_LE(1, kProtocol.least);
  EXPECT_LE(kProtocol.least, kProtocol.newest);
}

}  // namespace
}  // namespace leadline
