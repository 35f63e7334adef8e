#include "common/log_line.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/strict_json.h"

namespace leadline {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

const system_clock::time_point kMoment(milliseconds(1'767'323'045'007));

std::string Text(const std::string& value) {
  return LogLine(LogFormat::kText, kMoment, LogLevel::kInfo, "refused",
                 {{"node", value}});
}

Json Parsed(const std::string& value) {
  const std::string line =
      LogLine(LogFormat::kJson, kMoment, LogLevel::kWarning, "refused",
              {{"node", value}, {"n", "3"}});
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_TRUE(line.ends_with("}\n"));
  return ParseStrictJson(line.substr(0, line.size() - 1), {});
}

std::string NodeOf(const std::string& value) {
  return FindMember(Parsed(value), "node")->text;
}

TEST(LogLineTest, HasTimeLevelAndEventBeforeTheKeys) {
  EXPECT_EQ(LogLine(LogFormat::kText, kMoment, LogLevel::kError, "started",
                    {{"pid", "7"}, {"message", "a b"}}),
            "2026-01-02T03:04:05.007Z error started pid=7 message=\"a b\"\n");
  EXPECT_EQ(LogLine(LogFormat::kJson, kMoment, LogLevel::kDebug, "started",
                    {{"pid", "7"}}),
            "{\"time\":\"2026-01-02T03:04:05.007Z\",\"level\":\"debug\","
            "\"event\":\"started\",\"pid\":\"7\"}\n");
}

TEST(LogLineTest, TextFromOutsideMakesNoLinesAndNoKeysOfItsOwn) {
  EXPECT_EQ(Text("n\nlevel=error x=\"1\""),
            "2026-01-02T03:04:05.007Z info refused "
            "node=\"n\\nlevel=error x=\\\"1\\\"\"\n");
  EXPECT_EQ(Text(""), "2026-01-02T03:04:05.007Z info refused node=\"\"\n");
}

TEST(LogLineTest, TextFromOutsideDrivesNoTerminal) {
  EXPECT_THAT(Text("\x1b]0;title\x07"),
              testing::HasSubstr("\"\\x1b]0;title\\x07\""));
  EXPECT_THAT(Text("\u202eabc\u0085"),
              testing::HasSubstr("\"\\u{202e}abc\\u{85}\""));
  EXPECT_THAT(Text("\xff\xc0"), testing::HasSubstr("\"\\xff\\xc0\""));
  EXPECT_THAT(Text("naïve 🧭"), testing::HasSubstr("\"naïve 🧭\""));
}

TEST(LogLineTest, JsonIsStrictWhateverTheBytes) {
  EXPECT_EQ(NodeOf("a\"b\\c\n\t\x01\x7f"), "a\"b\\c\n\t\x01\x7f");
  EXPECT_EQ(NodeOf(std::string("a\0b", 3)), std::string("a\0b", 3));
  EXPECT_EQ(NodeOf("\u202e🧭\u2028"), "\u202e🧭\u2028");
  EXPECT_EQ(NodeOf("\xed\xa0\x80|\xc0\xaf|\xf5"), "���|��|�");
  std::mt19937 draw(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(draw() % 40, '\0');
    for (char& c : bytes) c = static_cast<char>(draw());
    EXPECT_NO_THROW(Parsed(bytes));
  }
}

TEST(LogLineTest, OfALongValueTheBeginningIsKeptWithItsLength) {
  const std::string line = Text(std::string(10 << 20, 'x'));
  EXPECT_LT(line.size(), 5000U);
  EXPECT_THAT(line, testing::HasSubstr("xxx... (10485760 bytes)"));
  EXPECT_LT(Text(std::string(10 << 20, '\xff')).size(), 20'000U);
  EXPECT_LT(Text(std::string(10 << 20, '\x80')).size(), 20'000U);
  std::string emoji;
  for (int i = 0; i < 3000; ++i) emoji += "🧭";
  EXPECT_EQ(NodeOf("a" + emoji).substr(4093), "... (12001 bytes)");
}

TEST(LogLineTest, WordsOfFlagsReadBack) {
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo,
                               LogLevel::kWarning, LogLevel::kError}) {
    EXPECT_EQ(ReadLogLevel(Name(level)), level);
  }
  EXPECT_EQ(ReadLogFormat("json"), LogFormat::kJson);
  EXPECT_EQ(ReadLogFormat("xml"), std::nullopt);
  EXPECT_EQ(ReadLogLevel("warn"), std::nullopt);
}

}  // namespace
}  // namespace leadline
