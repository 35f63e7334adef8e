#include "worker/agent/careful_sending.h"

#include <vector>

#include <gtest/gtest.h>

namespace leadline::agent {
namespace {

using Outstanding = CarefulSending::Outstanding;

const AttemptKey kOne = *ParseAttemptKey("s1.1.c0@1");
const AttemptKey kTwo = *ParseAttemptKey("s1.2.c0@1");

std::optional<Outstanding> Refuse(CarefulSending& careful,
                                  std::vector<Outstanding> outstanding) {
  return careful.OnRefused(outstanding);
}

TEST(CarefulSending, FindsTheRecordByLettingEachGoAlone) {
  CarefulSending careful;
  EXPECT_FALSE(careful.IsCareful());
  EXPECT_TRUE(careful.MaySend(kTwo));
  EXPECT_FALSE(Refuse(careful, {{kOne, 1, 3}, {kTwo, 5, 9}}));
  EXPECT_TRUE(careful.MaySend(kOne));
  EXPECT_FALSE(careful.MaySend(kTwo));
  careful.OnStored(kOne, 3);
  EXPECT_TRUE(careful.MaySend(kTwo));
  EXPECT_FALSE(Refuse(careful, {{kTwo, 6, 6}}));
  EXPECT_FALSE(Refuse(careful, {{kTwo, 6, 6}}));
  const auto cause = Refuse(careful, {{kTwo, 6, 6}});
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->attempt, kTwo);
  EXPECT_EQ(cause->first, 6);
  careful.OnStored(kTwo, 8);
  EXPECT_TRUE(careful.IsCareful());
  careful.OnStored(kTwo, 9);
  EXPECT_FALSE(careful.IsCareful());
}

TEST(CarefulSending, OneThatWasStoredInTheEndIsNotTheCause) {
  CarefulSending careful;
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(Refuse(careful, {{kOne, 6, 6}}));
    EXPECT_FALSE(Refuse(careful, {{kOne, 6, 6}}));
    careful.OnStored(kOne, 6);
  }
}

TEST(CarefulSending, WithSeveralOnTheirWayNobodyIsTheCause) {
  CarefulSending careful;
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(Refuse(careful, {{kOne, 6, 6}, {kTwo, 1, 1}}));
    EXPECT_FALSE(Refuse(careful, {{kOne, 6, 7}}));
    EXPECT_FALSE(Refuse(careful, {}));
  }
}

TEST(CarefulSending, AnAttemptThatHasGoneHoldsUpNobody) {
  CarefulSending careful;
  Refuse(careful, {{kOne, 1, 3}});
  careful.Forget(kOne);
  EXPECT_TRUE(careful.MaySend(kTwo));
}

}  // namespace
}  // namespace leadline::agent
