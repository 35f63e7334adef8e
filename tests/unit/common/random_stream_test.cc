#include "common/random_stream.h"

#include <gtest/gtest.h>

#include "common/sha256.h"

namespace leadline {
namespace {

TEST(RandomStream, PhiloxGivesItsPublishedValues) {
  EXPECT_EQ(Philox({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c,
                                     0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(Philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6,
                                     0x6d5451fd}));
  EXPECT_EQ(Fnv1a("a"), 0xaf63dc4c8601ec8c);
}

TEST(RandomStream, AStreamHasFixedWordsAndNormals) {
  const RandomStream stream(1337, "init/layers.0.attn.wq");
  EXPECT_EQ(stream.Word(0), 0xd1b915dc);
  EXPECT_EQ(stream.Word(1), 0xea670e11);
  EXPECT_EQ(stream.Word(2), 0x8afe4311);
  EXPECT_EQ(stream.Word(3), 0x5b8a1aa8);
  EXPECT_NEAR(stream.Normal(0), 0.54482828, 5e-9);
  EXPECT_NEAR(stream.Normal(1), -0.31928342, 5e-9);
  EXPECT_NEAR(stream.Normal(2), -0.69144093, 5e-9);
  EXPECT_NEAR(stream.Normal(3), 0.86221468, 5e-9);
}

TEST(RandomStream, SpansGiveWhatSingleDrawsGive) {
  const RandomStream stream(7, "init/embed");
  for (const uint64_t first : {0, 1, 2, 3, 4, 11}) {
    std::array<uint32_t, 9> words{};
    std::array<double, 9> normals{};
    stream.Words(first, words);
    stream.Normals(first, normals);
    for (uint64_t i = 0; i < words.size(); ++i) {
      EXPECT_EQ(words[i], stream.Word(first + i));
      EXPECT_EQ(normals[i], stream.Normal(first + i));
    }
  }
}

TEST(RandomStream, IntegersStayBelow) {
  const RandomStream stream(7, "data/train/0");
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(stream.Integer(i, 1), 0);
    EXPECT_LT(stream.Integer(i, 3), 3);
  }
}

TEST(Sha256, GivesItsPublishedValue) {
  EXPECT_EQ(Sha256Of("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace leadline
