#include "flags/command_line.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace leadline::flags {
namespace {

constexpr char kVariable[] = "LEADLINE_FLAGS_TEST";

/// What a flag of that variable is set to.
bool AsFlag(const std::string& value) {
  ::setenv(kVariable, value.c_str(), 1);
  CLI::App app;
  bool flag = false;
  app.add_flag("--flag", flag)->envname(kVariable);
  const char* const argv[] = {"program"};
  app.parse(1, argv);
  ::unsetenv(kVariable);
  return flag;
}

TEST(IsOn, ReadsAVariableAsTheFlagThatItSets) {
  for (const char* text : {"1", "2", "true", "TRUE", "True", "t", "y", "yes",
                           "YES", "on", "enable", "+"}) {
    EXPECT_TRUE(IsOn(text)) << text;
    EXPECT_TRUE(AsFlag(text)) << text;
  }
  for (const char* text :
       {"", "0", "false", "FALSE", "f", "n", "no", "off", "disable", "-"}) {
    EXPECT_FALSE(IsOn(text)) << text;
    EXPECT_FALSE(AsFlag(text)) << text;
  }
}

TEST(IsOn, AnotherWordSetsNothing) {
  EXPECT_FALSE(IsOn("perhaps"));
  EXPECT_FALSE(IsOn("?"));
}

}  // namespace
}  // namespace leadline::flags
