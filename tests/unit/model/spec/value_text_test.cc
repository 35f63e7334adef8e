#include <bit>
#include <cstdint>
#include <limits>

#include <gmock/gmock.h>

#include "model/spec/json_text.h"
#include "model/spec/settings.h"

namespace leadline::spec {
namespace {

Value Parsed(std::string_view key, std::string_view text) {
  auto value = ParseValue(*FindSetting(key), text);
  EXPECT_TRUE(std::holds_alternative<Value>(value))
      << key << ": " << text << ": expected "
      << ExpectedText(*FindSetting(key));
  return std::holds_alternative<Value>(value) ? std::get<Value>(value) : "";
}

bool Refused(std::string_view key, std::string_view text) {
  return std::holds_alternative<std::string>(
      ParseValue(*FindSetting(key), text));
}

TEST(ParseValue, TakesTheCommonFormsOfNumbers) {
  for (const char* text :
       {"1e-4", "1E-04", ".0001", "0.0001", "1.0e-4", "0.1e-3", "100e-6"}) {
    EXPECT_EQ(Parsed("lr", text), Value(1e-4)) << text;
  }
  EXPECT_EQ(Parsed("lr", "1"), Value(1.0)) << "an integer where a number goes";
  EXPECT_EQ(Parsed("detail_bias", "-.5"), Value(-0.5));
  EXPECT_EQ(Parsed("detail_bias", "-2E+0"), Value(-2.0));
}

TEST(ParseValue, RefusesWhatOnlyLooksLikeANumber) {
  for (const char* text :
       {"0x10", "1_000", "yes", "true",  "+1",      "01",     "1.",  ".",
        "-",    "",      " 1",  "1 ",    "1e",      "1e+",    "e5",  "1,0",
        "inf",  ".inf",  "nan", ".nan",  "1e400",   "1e-400", "1d5", "0b1",
        "0o7",  "1e5.0", "--1", "1e-4f", "\"1e-4\""}) {
    EXPECT_TRUE(Refused("lr", text)) << text;
    EXPECT_TRUE(Refused("steps", text)) << text;
  }
}

TEST(ParseValue, KeepsIntegersApartFromNumbers) {
  EXPECT_EQ(Parsed("steps", "300"), Value(int64_t{300}));
  for (const char* text : {"300.0", "3e2", "-0.0", "1e18"}) {
    EXPECT_TRUE(Refused("steps", text)) << text;
  }
}

TEST(ParseValue, RefusesHostileSizes) {
  EXPECT_TRUE(Refused("steps", "1000000000000000000"));
  EXPECT_TRUE(Refused("steps", "18446744073709551617"));
  EXPECT_TRUE(Refused("d_model", "1000000000"));
  EXPECT_TRUE(Refused("d_model", "-32"));
  EXPECT_TRUE(Refused("d_model", "0"));
  EXPECT_TRUE(Refused("depth", std::string(100000, '9')));
}

TEST(ParseValue, KnowsWhichEndsBelongToARange) {
  EXPECT_TRUE(Refused("beta1", "1"));
  EXPECT_EQ(Parsed("beta1", "0"), Value(0.0));
  EXPECT_TRUE(Refused("lr", "0"));
  EXPECT_EQ(Parsed("dropout", "0.5"), Value(0.5));
  EXPECT_TRUE(Refused("dropout", "0.50001"));
  EXPECT_EQ(Parsed("data_seed", "9223372036854775807"), Value(INT64_MAX));
  EXPECT_TRUE(Refused("data_seed", "9223372036854775808"));
  EXPECT_TRUE(Refused("data_seed", "-1"));
}

TEST(ParseValue, TakesWordsOfTheSettingOnly) {
  EXPECT_EQ(Parsed("precision", "bf16"), Value("bf16"));
  EXPECT_EQ(Parsed("micro_batch", "auto"), Value("auto"));
  EXPECT_EQ(Parsed("clip", "off"), Value("off"));
  EXPECT_EQ(Parsed("detail_bias", "-inf"), Value("-inf"));
  EXPECT_TRUE(Refused("precision", "fp16"));
  EXPECT_TRUE(Refused("qk_norm", "yes"));
  EXPECT_TRUE(Refused("qk_norm", "On"));
}

TEST(ToText, ReadsBackBitForBitWithItsType) {
  for (const double number :
       {4.0, 7.0, -0.0, 0.0, 1e-45, 5e-324, 9007199254740993.0, 0.1, 1e22, 1e21,
        123456789012345680.0, 1.7976931348623157e308, -2.0, 1e-4}) {
    const SettingInfo any{.key = "any",
                          .kind = ValueKind::kNumber,
                          .least = std::numeric_limits<double>::lowest(),
                          .most = std::numeric_limits<double>::max()};
    const auto back = ParseValue(any, ToText(number));
    ASSERT_TRUE(std::holds_alternative<Value>(back)) << ToText(number);
    const Value value = std::get<Value>(back);
    ASSERT_TRUE(std::holds_alternative<double>(value));
    EXPECT_EQ(std::bit_cast<uint64_t>(std::get<double>(value)),
              std::bit_cast<uint64_t>(number));
    EXPECT_NE(ToText(number).find_first_of(".e"), std::string::npos)
        << "a number never looks like an integer";
  }
  EXPECT_EQ(ToText(int64_t{9007199254740993}), "9007199254740993");
  EXPECT_EQ(ToText(4.0), "4.0");
  EXPECT_EQ(ToText(int64_t{4}), "4");
  EXPECT_EQ(ToText(-0.0), "-0.0");
}

TEST(ExpectedText, SaysKindRangeAndWords) {
  EXPECT_EQ(ExpectedText(*FindSetting("depth")), "an integer from 1 to 256");
  EXPECT_EQ(ExpectedText(*FindSetting("beta1")), "a number from 0 to below 1");
  EXPECT_EQ(ExpectedText(*FindSetting("lr")), "a number above 0 up to 10");
  EXPECT_EQ(ExpectedText(*FindSetting("cohort")),
            "an integer from 1 to 64, or auto");
  EXPECT_EQ(ExpectedText(*FindSetting("qk_norm")), "on or off");
  EXPECT_EQ(ExpectedText(*FindSetting("precision")),
            "one of fp32, bf16 or fp64");
  EXPECT_EQ(ExpectedText(*FindSetting("data_seed")),
            "an integer from 0 to 9223372036854775807, or seed");
}

TEST(JsonText, EscapesWhatJsonMustNotHold) {
  EXPECT_EQ(JsonText("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\u000a\\u0001\"");
  EXPECT_EQ(JsonText("größe"), "\"größe\"");
}

}  // namespace
}  // namespace leadline::spec
