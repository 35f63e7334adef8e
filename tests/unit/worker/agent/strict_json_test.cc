#include "worker/agent/strict_json.h"

#include <string>

#include <gtest/gtest.h>

namespace leadline::agent {
namespace {

std::string Repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(StrictJson, ReadsAnObjectWithArrays) {
  const auto json = ParseStrictJson(R"({"a":[1,2.5,"x",null,true],"b":{}})");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(json->at("a").at(1), 2.5);
  EXPECT_EQ(json->dump(), R"({"a":[1,2.5,"x",null,true],"b":{}})");
}

TEST(StrictJson, SameKeyInDifferentObjectsIsNotDoubled) {
  EXPECT_TRUE(ParseStrictJson(R"({"a":{"a":1},"b":{"a":2}})").ok());
}

class RefusedJson : public ::testing::TestWithParam<std::string> {};

TEST_P(RefusedJson, IsRefusedWithAPrintableReason) {
  const auto json = ParseStrictJson(GetParam());
  ASSERT_FALSE(json.ok());
  EXPECT_FALSE(json.status().message().empty());
  for (const char c : json.status().message()) {
    EXPECT_TRUE(c >= ' ' && c <= '~');
  }
}

INSTANTIATE_TEST_SUITE_P(
    Hostile, RefusedJson,
    ::testing::Values("", " ", "{", "}", "{}{}", "{\"a\":1,}", "{\"a\":1} x",
                      R"({"a":1,"a":2})", R"({"a":{"b":1,"b":2}})", "NaN",
                      "1e400", "{\"a\":\"\xff\xfe\"}", std::string("\0", 1),
                      "\"\xed\xa0\x80\"", R"("\ud800")", Repeat("[", 200000),
                      Repeat("[", 9) + Repeat("]", 9),
                      Repeat("{\"a\":", 200000), "+1", "01", "'a'"));

}  // namespace
}  // namespace leadline::agent
