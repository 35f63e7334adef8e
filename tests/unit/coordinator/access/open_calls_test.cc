#include "coordinator/access/open_calls.h"

#include <gtest/gtest.h>

namespace leadline::access {
namespace {

TEST(OpenCallsTest, StreamsAreCountedByCallerAndAgentsApart) {
  OpenCalls calls;
  const int64_t first = calls.Add({"t1", 1, false, true, [] {}});
  calls.Add({"t1", 1, false, true, [] {}});
  calls.Add({"t1", 1, false, false, [] {}});
  calls.Add({"t2", 2, true, true, [] {}});
  EXPECT_EQ(calls.StreamsOf("t1"), 2);
  EXPECT_EQ(calls.StreamsOf("t2"), 1);
  EXPECT_EQ(calls.StreamsOf("t3"), 0);
  EXPECT_EQ(calls.StreamsOfReaders(), 2);
  calls.Remove(first);
  calls.Remove(first);
  EXPECT_EQ(calls.StreamsOf("t1"), 1);
  EXPECT_EQ(calls.StreamsOfReaders(), 1);
}

TEST(OpenCallsTest, OnlyCallsOfATokenThatIsNoLongerGoodAreEnded) {
  OpenCalls calls;
  int ended = 0;
  calls.Add({"t1", 1, false, true, [&] { ended += 1; }});
  calls.Add({"t2", 2, false, true, [&] { ended += 100; }});
  calls.Add({"socket", std::nullopt, false, true, [&] { ended += 100; }});
  EXPECT_EQ(calls.EndWithout([](int64_t token) { return token == 2; }), 1);
  EXPECT_EQ(ended, 1);
}

TEST(OpenCallsTest, ACallMayBeGoneAsSoonAsItIsEnded) {
  OpenCalls calls;
  int64_t first = 0;
  first = calls.Add({"t1", 1, false, true, [&] { calls.Remove(first); }});
  calls.Add({"t1", 1, false, true, [] {}});
  EXPECT_EQ(calls.EndWithout([](int64_t) { return false; }), 2);
  EXPECT_EQ(calls.StreamsOf("t1"), 1);
}

}  // namespace
}  // namespace leadline::access
