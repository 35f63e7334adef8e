#include "common/harmless_text.h"

#include <random>

#include <gmock/gmock.h>

namespace leadline {
namespace {

TEST(HarmlessText, KeepsWhatPeopleWrite) {
  for (const char* text :
       {"", "naïve 🧭", "👩‍🔬", "a \"b\" \\c", "日本語"}) {
    EXPECT_EQ(HarmlessText(text), text);
  }
}

TEST(HarmlessText, ShowsWhatDrivesATerminalOrIsNoCharacter) {
  EXPECT_EQ(HarmlessText("a\nb\t\x1b[2J"), "a\\nb\\t\\x1b[2J");
  EXPECT_EQ(HarmlessText("\u202eabc\u0085"), "\\u{202e}abc\\u{85}");
  EXPECT_EQ(HarmlessText("\xff|\xed\xa0\x80"), "\\xff|\\xed\\xa0\\x80");
}

TEST(HarmlessText, OfALongOneKeepsTheBeginningBetweenTwoCharacters) {
  std::string text = "a";
  for (int i = 0; i < 3000; ++i) text += "🧭";
  const std::string shown = HarmlessText(text);
  EXPECT_EQ(shown.substr(0, 4093), text.substr(0, 4093));
  EXPECT_EQ(shown.substr(4093), "... (12001 bytes)");
  EXPECT_LT(HarmlessText(std::string(10 << 20, '\x80')).size(), 20'000U);
}

TEST(HarmlessText, IsPrintableWhateverTheBytes) {
  std::mt19937 draw(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(draw() % 40, '\0');
    for (char& c : bytes) c = static_cast<char>(draw());
    const std::string shown = HarmlessText(bytes);
    for (size_t i = 0; i < shown.size();) {
      const Character c = CharacterAt(shown, i);
      ASSERT_GT(c.bytes, 0U);
      ASSERT_FALSE(DrivesTheReader(c.code_point));
      i += c.bytes;
    }
  }
}

}  // namespace
}  // namespace leadline
