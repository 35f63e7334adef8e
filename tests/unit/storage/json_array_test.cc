#include "storage/sqlite/json_array.h"

#include <bit>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leadline::storage::sqlite {
namespace {

TEST(JsonArray, NumbersReadBackBitForBit) {
  const std::vector<double> numbers = {
      0.0, -0.0, 0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -1e-300, 42.0};
  const auto read = NumbersFromJson(NumbersToJson(numbers)).value();
  ASSERT_EQ(read.size(), numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(std::bit_cast<uint64_t>(read[i]),
              std::bit_cast<uint64_t>(numbers[i]));
  }
}

TEST(JsonArray, NonFiniteNumbersAreWords) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::string text =
      NumbersToJson(std::vector<double>{std::nan(""), inf, -inf});
  EXPECT_EQ(text, R"(["nan","inf","-inf"])");
  const auto read = NumbersFromJson(text).value();
  EXPECT_TRUE(std::isnan(read[0]));
  EXPECT_EQ(read[1], inf);
  EXPECT_EQ(read[2], -inf);
}

TEST(JsonArray, WordsReadBackByteForByte) {
  const std::vector<std::string> words = {"",
                                          "u0",
                                          "\"\\/",
                                          std::string("a\0b\n\x1f", 5),
                                          "\xf0\x9f\x98\x80",
                                          "\xff\xfe"};
  EXPECT_EQ(WordsFromJson(WordsToJson(words)).value(), words);
  EXPECT_EQ(WordsToJson({}), "[]");
}

TEST(JsonArray, DamageIsDataLoss) {
  for (const char* text :
       {"", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1]x", "[\"nan]",
        "[\"abc\"]", "[null]", "{}", "[[1]]"}) {
    EXPECT_EQ(NumbersFromJson(text).status().code(),
              absl::StatusCode::kDataLoss)
        << text;
  }
  for (const char* text : {"[1]", "[\"a]", "[\"\\u00\"]", "[\"\\q\"]",
                           "[\"\\u0041\"]", "[\"a\" \"b\"]"}) {
    EXPECT_EQ(WordsFromJson(text).status().code(), absl::StatusCode::kDataLoss)
        << text;
  }
}

}  // namespace
}  // namespace leadline::storage::sqlite
