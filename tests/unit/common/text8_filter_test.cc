#include "common/text8_filter.h"

#include <chrono>

#include <gtest/gtest.h>

namespace leadline {
namespace {

// With the last character, a space, that is then dropped.
std::string Plain(std::string_view text) {
  std::string out;
  PlainTextFilter().Add(text, out);
  return out + " ";
}

std::string Record(std::string_view text) { return Plain(WithoutMarkup(text)); }

std::string Filtered(std::string_view bytes, size_t piece = 1 << 20U) {
  Text8Filter filter;
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    EXPECT_TRUE(filter.Add(bytes.substr(at, piece), out));
  }
  filter.Finish(out);
  return out;
}

TEST(PlainTextFilter, GivesThePublishedVectors) {
  EXPECT_EQ(Plain("The 3 cats"), " the three cats ");
  EXPECT_EQ(Plain("Don't stop"), " don t stop ");
  EXPECT_EQ(Plain("Caf\xC3\xA9, 2016!"), " caf two zero one six ");
  EXPECT_EQ(Plain("10"), " one zero ");
  EXPECT_EQ(Plain(""), " ");
}

TEST(PlainTextFilter, OtherBytesPartWordsOnce) {
  EXPECT_EQ(Plain("  a\t\n\xFF\x80.b  "), " a b ");
  EXPECT_EQ(Plain(std::string_view("a\0b", 3)), " a b ");
  EXPECT_EQ(Plain("x9y"), " x nine y ");
  EXPECT_EQ(Plain("..."), " ");
  EXPECT_EQ(Plain("\xC0\xE9[`{@"), " ");
  EXPECT_EQ(Plain("0123456789"),
            " zero one two three four five six seven eight nine ");
}

TEST(PlainTextFilter, PiecesMakeTheSameText) {
  const std::string_view text = "It's 1984, isn't it?  Yes \xC3\xA9 2.";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    PlainTextFilter filter;
    std::string out;
    filter.Add(text.substr(0, cut), out);
    filter.Add(text.substr(cut), out);
    EXPECT_EQ(out + " ", Plain(text)) << cut;
  }
}

TEST(Text8Record, GivesThePublishedVectors) {
  EXPECT_EQ(Record("'''Anarchism''' is a [[political philosophy|philosophy]] "
                   "of [[Greece]]."),
            " anarchism is a philosophy of greece ");
  EXPECT_EQ(Record("[[Image:Foo.jpg|thumb|left|200px|A [[cat]] sat]]"),
            " a cat sat ");
  EXPECT_EQ(Record("see [http://example.org the site] now"),
            " see the site now ");
  EXPECT_EQ(Record("[[Category:Cats|*]] [[fr:Chat]]"), " cats ");
  EXPECT_EQ(Record("a&lt;ref name=x&gt;note&lt;/ref&gt;b"), " ab ");
}

TEST(Text8Record, EntitiesAreDecodedInTheirOrder) {
  // &amp;lt; becomes &lt; and then a tag; &nbsp; a space.
  EXPECT_EQ(Record("a&amp;lt;b&amp;gt;c"), " ac ");
  EXPECT_EQ(Record("a&nbsp;b &amp;nbsp;c"), " a b c ");
  EXPECT_EQ(Record("fish & chips"), " fish chips ");
  EXPECT_EQ(Record("a & b; c"), " a c ");
}

TEST(Text8Record, FirstTagOfTheLastLineGoesWithWhatFollows) {
  EXPECT_EQ(Record("a <b\nc <d e <f>"), " a b c ");
  EXPECT_EQ(Record("a < b"), " a b ");
}

TEST(Text8Record, ReferencesHoldNoTag) {
  EXPECT_EQ(Record("a&lt;ref x&lt;/ref&gt;b"), " ab ");
  EXPECT_EQ(Record("a&lt;ref&gt;n&lt;b&gt;o&lt;/b&gt;&lt;/ref&gt;c"), " anoc ");
  EXPECT_EQ(Record("a&lt;ref&gt;x&lt;ref&gt;y&lt;/ref&gt;z"), " axz ");
}

TEST(Text8Record, LinksKeepWhatIsSeen) {
  EXPECT_EQ(Record("[http://x]y"), " y ");
  EXPECT_EQ(Record("[HTTP://x y]"), " http x y ");
  EXPECT_EQ(Record("[http://x"), " ");
  EXPECT_EQ(Record("|THUMB|Left|rIGHTa|12PXb|px|12p"), " ab px one two p ");
  EXPECT_EQ(Record("[[IMAGE:a|b|c[[d]]"), " cd ");
  EXPECT_EQ(Record("[[image:no bar]]"), " ");
  EXPECT_EQ(Record("[[image:No bar]]"), " ");
  EXPECT_EQ(Record("[[category:a b]] [[Category:c|d|e]]"), " a b c ");
  EXPECT_EQ(Record("[[category:open] x"), " category open x ");
  EXPECT_EQ(Record("[[zh-min-nan:x|y]]z [[Fr:x]]"), " z fr x ");
  EXPECT_EQ(Record("[[a|b|c]] [[d]e|f]]"), " b c de f ");
}

TEST(Text8Record, TemplatesAndTablesGo) {
  EXPECT_EQ(Record("a{{b|c}}d{e}f}g"), " adf g ");
  EXPECT_EQ(Record("a{{b{{c}}d}}e"), " ad e ");
  EXPECT_EQ(Record("{{a} b}"), " b ");
  EXPECT_EQ(Record("{a"), " a ");
}

TEST(Text8Filter, GivesThePublishedVectorOfAWholeFile) {
  const std::string_view xml =
      "<page><title>T</title><text xml:space=\"preserve\">Hi "
      "&lt;b&gt;there&lt;/b&gt; 42</text></page><page><text "
      "x=\"y\">#REDIRECT [[Foo]]</text></page>";
  for (size_t piece = 1; piece <= xml.size(); ++piece) {
    EXPECT_EQ(Filtered(xml, piece), " hi there four two");
  }
}

TEST(Text8Filter, RecordWithoutAnEndIsARecord) {
  EXPECT_EQ(Filtered("<text >a b"), " a b");
  EXPECT_EQ(Filtered("a b"), "");
  EXPECT_EQ(Filtered(""), "");
}

TEST(Text8Filter, TextBeginsAndEndsWithItsTags) {
  EXPECT_EQ(Filtered("a<text >b<i>c</text>d<text >e</text>"), " a b c d e");
  EXPECT_EQ(Filtered("<text/>b<text>c</text>"), "");
  // The redirect comes after the tag, and ends the text it is in.
  EXPECT_EQ(Filtered("<text >a>#ReDirect b>c</text><text >d</text>"), " a d");
}

TEST(Text8Filter, NoPatternCrossesARecord) {
  EXPECT_EQ(Filtered("<text >{{a>b}}c</text>"), " a b c");
}

TEST(Text8Filter, RecordThatIsTooLongIsRefused) {
  Text8Filter filter(8);
  std::string out;
  EXPECT_TRUE(filter.Add("<text >12345678", out));
  EXPECT_FALSE(filter.Add("9", out));
}

// Each is quadratic where a pattern looks for its end from every beginning.
TEST(Text8Filter, TimeIsLinearInTheLengthOfARecord) {
  for (const char* unit :
       {"<ref",     "&lt;",      "<",           "[http:", "|1",  "|11111111",
        "[[image:", "[[image:|", "[[category:", "[[a:",   "[[a", "[[",
        "[[a:]",    "{{",        "{",           "{{}",    "&",   "&;",
        "&amp;",    "|thumb",    "\n<",         "a"}) {
    std::string text;
    while (text.size() < 2'000'000) text += unit;
    const auto begin = std::chrono::steady_clock::now();
    Filtered("<text >" + text + ">");
    Filtered("<text >" + text);
    // Quadratic, it would take hours; linear, well below a second.
    EXPECT_LT(std::chrono::steady_clock::now() - begin,
              std::chrono::seconds(20))
        << unit;
  }
}

}  // namespace
}  // namespace leadline
