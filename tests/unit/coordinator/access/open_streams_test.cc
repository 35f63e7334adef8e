#include "coordinator/access/open_streams.h"

#include <gtest/gtest.h>

namespace leadline::access {
namespace {

TEST(OpenStreamsTest, StreamsAreCountedByCallerAndAgentsApart) {
  OpenStreams streams;
  const int64_t first = streams.Add({"t1", 1, false, [] {}});
  streams.Add({"t1", 1, false, [] {}});
  streams.Add({"t2", 2, true, [] {}});
  EXPECT_EQ(streams.StreamsOf("t1"), 2);
  EXPECT_EQ(streams.StreamsOf("t2"), 1);
  EXPECT_EQ(streams.StreamsOf("t3"), 0);
  EXPECT_EQ(streams.StreamsOfReaders(), 2);
  streams.Remove(first);
  streams.Remove(first);
  EXPECT_EQ(streams.StreamsOf("t1"), 1);
  EXPECT_EQ(streams.StreamsOfReaders(), 1);
}

TEST(OpenStreamsTest, OnlyThoseOfATokenThatIsNoLongerGoodAreEnded) {
  OpenStreams streams;
  int ended = 0;
  streams.Add({"t1", 1, false, [&] { ended += 1; }});
  streams.Add({"t2", 2, false, [&] { ended += 100; }});
  streams.Add({"socket", std::nullopt, false, [&] { ended += 100; }});
  EXPECT_EQ(streams.EndWithout([](int64_t token) { return token == 2; }), 1);
  EXPECT_EQ(ended, 1);
}

TEST(OpenStreamsTest, OneMayBeGoneAsSoonAsItIsEnded) {
  OpenStreams streams;
  int64_t first = 0;
  first = streams.Add({"t1", 1, false, [&] { streams.Remove(first); }});
  streams.Add({"t1", 1, false, [] {}});
  EXPECT_EQ(streams.EndWithout([](int64_t) { return false; }), 2);
  EXPECT_EQ(streams.StreamsOf("t1"), 1);
}

}  // namespace
}  // namespace leadline::access
