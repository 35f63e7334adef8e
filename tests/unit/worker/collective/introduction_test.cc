#include "worker/collective/ring/introduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/collective/ring/collective_error.h"
#include "worker/collective/ring/frame.h"
#include "worker/collective/ring/meeting.h"

namespace leadline::collective {
namespace {

using testing::HasSubstr;

Introduction Example() {
  return {.size = 4, .rank = 1, .settings_hash = "abc", .data_hash = "def"};
}

TEST(IntroductionTest, ReadsBackWhatIsWritten) {
  EXPECT_EQ(DecodeBody(EncodeBody(Example())), Example());
}

TEST(IntroductionTest, WhatIsCutOrTooLongIsNone) {
  const std::string body = EncodeBody(Example());
  for (size_t size = 0; size < body.size(); ++size) {
    EXPECT_FALSE(DecodeBody(body.substr(0, size))) << size;
  }
  EXPECT_FALSE(DecodeBody(body + "x"));
  std::string endless = body;
  endless[12] = '\xff';  // of the size of a text
  endless[15] = '\xff';
  EXPECT_FALSE(DecodeBody(endless));
}

TEST(IntroductionTest, AnotherVersionIsReadAsFarAsThat) {
  Introduction newer = Example();
  newer.version = 9;
  const auto read = DecodeBody(EncodeBody(newer) + "and more");
  ASSERT_TRUE(read);
  EXPECT_THAT(WhyNotTogether(Example(), *read), HasSubstr("speaks version 9"));
}

TEST(IntroductionTest, DifferencesNameBothValues) {
  Introduction other = Example();
  other.rank = 2;
  EXPECT_EQ(WhyNotTogether(Example(), other), "");
  other.settings_hash = "xyz";
  EXPECT_EQ(WhyNotTogether(Example(), other),
            "rank 2 has the settings hash xyz, this rank abc");
  other = Example();
  EXPECT_THAT(WhyNotTogether(Example(), other), HasSubstr("it is rank 1"));
  other.rank = 4;
  EXPECT_THAT(WhyNotTogether(Example(), other), HasSubstr("rank 4 of 4"));
  other.size = 8;
  EXPECT_EQ(WhyNotTogether(Example(), other),
            "rank 4 has the world size 8, this rank 4");
}

// RFC 4231, test case 2, by way of an empty nonce would need another message:
// what is checked is that each part counts.
TEST(IntroductionTest, TheCodeRestsOnEveryPart) {
  const Nonce a{};
  Nonce b{};
  b[0] = std::byte{1};
  const std::string code = CodeOf("secret", Side::kDials, a, b, "body");
  EXPECT_EQ(code.size(), kCodeBytes);
  EXPECT_TRUE(SameCode(code, CodeOf("secret", Side::kDials, a, b, "body")));
  for (const std::string& other :
       {CodeOf("Secret", Side::kDials, a, b, "body"),
        CodeOf("secret", Side::kAnswers, a, b, "body"),
        CodeOf("secret", Side::kDials, b, a, "body"),
        CodeOf("secret", Side::kDials, a, a, "body"),
        CodeOf("secret", Side::kDials, a, b, "Body"), code.substr(1)}) {
    EXPECT_FALSE(SameCode(code, other));
  }
}

TEST(IntroductionTest, HelloOfAStrangerIsNone) {
  const Nonce nonce = FreshNonce();
  EXPECT_NE(nonce, FreshNonce());
  Hello hello = EncodeHello(nonce);
  EXPECT_EQ(DecodeHello(hello), nonce);
  hello[0] = std::byte{'G'};
  EXPECT_FALSE(DecodeHello(hello));
}

TEST(FrameTest, ReadsBackWhatIsWritten) {
  Frame frame;
  frame.kind = FrameKind::kData;
  frame.operation = {.number = 1ULL << 40U,
                     .task = Task::kCopy,
                     .element = Element::kInt64,
                     .root = 3,
                     .count = 77,
                     .step = -1};
  frame.turn = 5;
  frame.bytes = 1ULL << 33U;
  const auto read = Decode(Encode(frame));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->operation, frame.operation);
  EXPECT_EQ(read->turn, 5U);
  EXPECT_EQ(read->bytes, frame.bytes);
}

TEST(FrameTest, WhatNoRankSendsIsNone) {
  Frame frame;
  const FrameHead good = Encode(frame);
  ASSERT_TRUE(Decode(good));
  for (const size_t at : {0, 4, 5, 6}) {
    FrameHead bad = good;
    bad[at] = std::byte{200};
    EXPECT_FALSE(Decode(bad)) << at;
  }
  frame.kind = FrameKind::kAbort;
  frame.bytes = kLongestReason + 1;
  EXPECT_FALSE(Decode(Encode(frame)));
}

TEST(AddressTest, HostAndPortAreToldApart) {
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(SplitAddress("10.0.0.1:4000"), Pair("10.0.0.1", "4000"));
  EXPECT_EQ(SplitAddress("[::1]:0"), Pair("::1", "0"));
  EXPECT_EQ(SplitAddress("node-7.example:65535"),
            Pair("node-7.example", "65535"));
  for (const char* bad : {"", ":", "host", "host:", ":1", "host:65536",
                          "host:-1", "::1:1", "[host]:1", "host:1x", "[]:1"}) {
    EXPECT_THROW(SplitAddress(bad), SetUpError) << bad;
  }
}

}  // namespace
}  // namespace leadline::collective
