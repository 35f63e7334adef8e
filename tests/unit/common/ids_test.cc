#include "common/ids.h"

#include <gtest/gtest.h>

namespace leadline {
namespace {

TEST(Ids, TextReadsBackAsTheSameId) {
  const CohortId cohort{{{12}, 3}, 0};
  EXPECT_EQ(ToText(AttemptKey{cohort, 2}), "s12.3.c0@2");
  EXPECT_EQ(ParseAttemptKey("s12.3.c0@2"), (AttemptKey{cohort, 2}));
  EXPECT_EQ(ParseCohortId("s12.3.c0"), cohort);
  EXPECT_EQ(ParseTrialId("s12.3.1"), (TrialId{{{12}, 3}, 1}));
  EXPECT_EQ(ParseCellId("s12.3"), (CellId{{12}, 3}));
  EXPECT_EQ(ParseSweepId("s12"), SweepId{12});
}

TEST(Ids, AnythingElseIsRefused) {
  for (const char* text :
       {"", "s", "12", "s0", "s-1", "s+1", "s01", "s1 ", " s1", "s1.", "S1",
        "s99999999999999999999", "s1/../2"}) {
    EXPECT_FALSE(ParseSweepId(text)) << text;
  }
  for (const char* text : {"s1.1.-1", "s1.1.01", "s1.1", "s1.0.0", "s1.1.1.1",
                           "s1.1.c1", "s1.1.1@1"}) {
    EXPECT_FALSE(ParseTrialId(text)) << text;
  }
  EXPECT_FALSE(ParseAttemptKey("s1.1.c0@0"));
  EXPECT_TRUE(ParseTrialId("s1.1.0"));
}

}  // namespace
}  // namespace leadline
