#include "coordinator/spec_reader/text_check.h"

#include <gtest/gtest.h>

#include "coordinator/spec_reader/spec_reader.h"

namespace leadline::spec_reader {
namespace {

std::string Fault(std::string_view text) {
  const auto problem = CheckText(text);
  return problem ? ToText(*problem, "f") : "none";
}

TEST(CheckText, PassesTextOfEveryLength) {
  EXPECT_EQ(Fault(""), "none");
  EXPECT_EQ(Fault("a\tb\r\n"), "none");
  EXPECT_EQ(Fault("größe ☃ 😀 \U0010FFFF"), "none");
  EXPECT_EQ(Fault(std::string(kMostBytes, 'a')), "none");
}

TEST(CheckText, PointsAtTheFirstFault) {
  EXPECT_EQ(Fault("ö\nxö\xff"), "f:2:3: the text is not UTF-8");
  EXPECT_EQ(Fault(std::string_view("ab\0c", 4)),
            "f:1:3: found a control character");
  EXPECT_EQ(Fault("\x1b[31m"), "f:1:1: found a control character");
}

TEST(CheckText, RefusesEveryFormThatIsNotUtf8) {
  for (const char* text :
       {"\x80", "\xc3", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80",
        "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x98",
        "\xe2\x28\xa1", "\xfe", "\xff"}) {
    EXPECT_NE(Fault(text), "none");
  }
}

TEST(CheckText, RefusesTooManyBytes) {
  EXPECT_NE(Fault(std::string(kMostBytes + 1, 'a')), "none");
}

}  // namespace
}  // namespace leadline::spec_reader
