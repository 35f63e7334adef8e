#include "cli/table.h"

#include <gtest/gtest.h>

namespace leadline::cli {
namespace {

Style Utf8() { return {.charset = Charset::kUtf8}; }

TEST(Render, AlignsByDisplayWidthAndLeavesNoBlanksAtLineEnds) {
  const Table table{{{"name"}, {"n", Align::kRight}, {"note"}},
                    {{"深さ", "5", ""}, {"e\u0301tude", "12", "x"}, {"a"}}};
  EXPECT_EQ(Render(table, Utf8()),
            "name    n  note\n"
            "深さ    5\n"
            "e\u0301tude  12  x\n"
            "a\n");
  EXPECT_EQ(RenderedWidth(table), 15U);
}

TEST(Render, MakesTitlesBoldOnlyWhereThereAreColours) {
  const Table table{{{"a"}}, {}};
  Style style = Utf8();
  EXPECT_EQ(Render(table, style), "a\n");
  style.colours = true;
  EXPECT_EQ(Render(table, style), "\x1b[1ma\x1b[0m\n");
}

TEST(RenderCsv, QuotesWhatNeedsIt) {
  const Table table{{{"a"}, {"b"}}, {{"x,y", "say \"hi\""}, {"line\nend"}}};
  EXPECT_EQ(RenderCsv(table),
            "a,b\n\"x,y\",\"say \"\"hi\"\"\"\n\"line\nend\",\n");
}

TEST(RenderMarkdown, EscapesPipes) {
  const Table table{{{"a"}, {"b", Align::kRight}}, {{"x|y", "1"}}};
  EXPECT_EQ(RenderMarkdown(table),
            "| a | b |\n| --- | ---: |\n| x\\|y | 1 |\n");
}

}  // namespace
}  // namespace leadline::cli
