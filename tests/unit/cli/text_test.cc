#include "cli/text.h"

#include <string>

#include <gtest/gtest.h>

namespace leadline::cli {
namespace {

TEST(Printable, LeavesOrdinaryTextOfAnyScriptAsItIs) {
  for (const std::string text :
       {"depth study", "größe", "深さ", "שלום", "👩‍🔬"}) {
    EXPECT_EQ(Printable(text, Charset::kUtf8), text);
  }
}

TEST(Printable, EscapesControlCharactersAndLineEnds) {
  EXPECT_EQ(Printable(std::string("a\0b", 3), Charset::kUtf8), "a\\x00b");
  EXPECT_EQ(Printable("a\n\tb\r", Charset::kUtf8), "a\\n\\tb\\r");
  EXPECT_EQ(Printable("\x1b[2J", Charset::kUtf8), "\\x1b[2J");
  EXPECT_EQ(Printable("\u009b2J", Charset::kUtf8), "\\u{9b}2J");
}

TEST(Printable, EscapesWhatReordersOrHidesText) {
  EXPECT_EQ(Printable("a\u202eb", Charset::kUtf8), "a\\u{202e}b");
  EXPECT_EQ(Printable("a\u2028b", Charset::kUtf8), "a\\u{2028}b");
  EXPECT_EQ(Printable("\ufeffa", Charset::kUtf8), "\\u{feff}a");
}

TEST(Printable, EscapesBrokenUtf8ByteByByte) {
  EXPECT_EQ(Printable("a\xff\xc3", Charset::kUtf8), "a\\xff\\xc3");
  EXPECT_EQ(Printable("\xed\xa0\x80", Charset::kUtf8), "\\xed\\xa0\\x80");
}

TEST(Printable, IsAsciiWhereThereIsNothingElse) {
  EXPECT_EQ(Printable("größe 👍", Charset::kAscii),
            "gr\\u{f6}\\u{df}e \\u{1f44d}");
}

TEST(PrintableLines, KeepsLinesAndTabs) {
  EXPECT_EQ(PrintableLines("a\n\tb\x1b\n", Charset::kUtf8), "a\n\tb\\x1b\n");
}

TEST(DisplayWidth, CountsWhatAReaderSees) {
  EXPECT_EQ(DisplayWidth(""), 0U);
  EXPECT_EQ(DisplayWidth("abc"), 3U);
  EXPECT_EQ(DisplayWidth("größe"), 5U);
  EXPECT_EQ(DisplayWidth("深さ"), 4U);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1U);
  EXPECT_EQ(DisplayWidth("👍"), 2U);
  EXPECT_EQ(DisplayWidth("👩‍🔬"), 2U);
  EXPECT_EQ(DisplayWidth("שלום"), 4U);
  EXPECT_EQ(DisplayWidth("\x1b[1mbold\x1b[0m"), 4U);
}

TEST(Shorten, CutsBetweenCharactersAndNeverExceedsTheWidth) {
  EXPECT_EQ(Shorten("depth", 5, Charset::kUtf8), "depth");
  EXPECT_EQ(Shorten("depths", 5, Charset::kUtf8), "dept…");
  EXPECT_EQ(Shorten("depths", 5, Charset::kAscii), "de...");
  EXPECT_EQ(Shorten("深深深", 4, Charset::kUtf8), "深…");
  EXPECT_EQ(Shorten("e\u0301e\u0301e\u0301", 2, Charset::kUtf8), "e\u0301…");
  for (size_t width = 0; width < 8; ++width) {
    EXPECT_LE(DisplayWidth(Shorten("深さ study 👍", width, Charset::kUtf8)),
              width);
    EXPECT_LE(DisplayWidth(Shorten("long name", width, Charset::kAscii)),
              width);
  }
}

TEST(Pad, FillsByColumnsNotBytes) {
  EXPECT_EQ(PadRight("深", 4), "深  ");
  EXPECT_EQ(PadLeft("ö", 3), "  ö");
  EXPECT_EQ(PadRight("long", 2), "long");
}

TEST(IsUtf8, FindsTheFirstBadByte) {
  size_t bad = 0;
  EXPECT_TRUE(IsUtf8("größe", &bad));
  EXPECT_FALSE(IsUtf8("gr\xf6\xdf", &bad));
  EXPECT_EQ(bad, 2U);
}

}  // namespace
}  // namespace leadline::cli
