#include "flags/command_line.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "flags/values.h"

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

/// How a program with such flags takes the words.
Reading ReadWords(std::vector<const char*> words) {
  CLI::App app("", "program");
  std::string state;
  double lease = 15;
  int64_t tries = 3;
  std::string level = "info";
  bool is_private = false;
  app.add_option("--state", state)->required()->type_name("DIR");
  app.add_option("--lease", lease)->check(Number(0.2, 86400));
  app.add_option("--tries", tries)->check(WholeNumber(1, 100));
  app.add_option("--level", level)->check(OneOf({"debug", "info", "error"}));
  app.add_flag("--private", is_private);
  AddCommon(app, "1");
  words.insert(words.begin(), "program");
  return Read(app, static_cast<int>(words.size()), words.data());
}

TEST(Read, TellsWhatIsWrongInItsOwnWords) {
  const struct {
    std::vector<const char*> words;
    const char* message;
  } cases[] = {
      {{"--sate", "co5"}, "there is no option --sate, did you mean --state?"},
      {{"--state", "x", "--sate", "y"},
       "there is no option --sate, did you mean --state?"},
      {{"--state", "x", "--wholly=other"}, "there is no option --wholly"},
      {{"--state", "x", "-z"}, "there is no option -z"},
      {{"--state", "x", "y"}, "unexpected argument 'y'"},
      {{"--state", "x", "--private", "y"}, "unexpected argument 'y'"},
      {{}, "--state is required"},
      {{"--state"}, "--state needs a value"},
      {{"--state", ""}, "--state is empty"},
      {{"--state=", "--lease", "1"}, "--state is empty"},
      {{"--state=", "x"}, "unexpected argument 'x'"},
      {{"--state", "x", "--state", "y"}, "--state is given more than once"},
      {{"--state", "x", "--lease"}, "--lease needs a value"},
      {{"--state", "x", "--lease", "abc"},
       "--lease: 'abc', expected a number from 0.2 to 86400"},
      {{"--state", "x", "--lease", "nan"},
       "--lease: 'nan', expected a number from 0.2 to 86400"},
      {{"--state", "x", "--tries", "1.5"},
       "--tries: '1.5', expected a whole number from 1 to 100"},
      {{"--state", "x", "--tries", "101"},
       "--tries: '101', expected a whole number from 1 to 100"},
      {{"--state", "x", "--level", "loud"},
       "--level: 'loud', expected debug, info or error"},
      {{"--state", "x", "--private=maybe"}, "--private: cannot read 'maybe'"},
  };
  for (const auto& one : cases) {
    const Reading reading = ReadWords(one.words);
    EXPECT_EQ(reading.exit_code, 2);
    EXPECT_EQ(reading.text,
              "program: " + std::string(one.message) + " [misuse]\n");
  }
  EXPECT_TRUE(
      ReadWords({"--state", "x", "--lease", "0.2", "--tries", "100"}).goes_on);
  // What stands there may be anything.
  EXPECT_EQ(ReadWords({"--\x1b[2J"}).text,
            "program: there is no option --\\x1b[2J [misuse]\n");
  const std::string endless(3'000'000, 'x');
  EXPECT_LT(ReadWords({"--state", "x", endless.c_str()}).text.size(), 5000U);
}

TEST(Read, NamesTheKeyThatAnUnknownOneMayBe) {
  std::string file =
      (std::filesystem::temp_directory_path() / "flags_XXXXXX").string();
  close(mkstemp(file.data()));
  std::ofstream(file) << "state=x\nleese=5\nelephant=1\n";
  EXPECT_EQ(ReadWords({"--config", file.c_str()}).text,
            "program: " + file +
                ": line 2: unknown key leese, did you mean lease?; the keys "
                "are the flags of --help [misuse]\n");
  std::ofstream(file) << "elephant=1\n";
  EXPECT_EQ(ReadWords({"--config", file.c_str()}).text,
            "program: " + file +
                ": line 1: unknown key elephant; the keys are the flags of "
                "--help [misuse]\n");
  std::filesystem::remove(file);
}

TEST(Read, TakesNoControlCharacters) {
  std::string file =
      (std::filesystem::temp_directory_path() / "flags_XXXXXX").string();
  close(mkstemp(file.data()));
  std::ofstream(file) << "lease=2\nstate=x" << '\0' << "\x1b[2J\n";
  EXPECT_EQ(ReadWords({"--config", file.c_str()}).text,
            "program: " + file +
                ": line 2: control characters, in state=x\\x00\\x1b[2J "
                "[misuse]\n");
  std::filesystem::remove(file);
  EXPECT_EQ(ReadWords({"--state", "x\x1b", "--print-config"}).text,
            "program: no file of settings can hold the value x\\x1b "
            "[misuse]\n");
}

TEST(Read, NamesTheFileWhereAValueIsEmpty) {
  std::string file =
      (std::filesystem::temp_directory_path() / "flags_XXXXXX").string();
  close(mkstemp(file.data()));
  for (const char* line : {"state=", "state= \"\"", "private="}) {
    std::ofstream(file) << "# settings\n" << line << "\n";
    const std::string key(line, std::string_view(line).find('='));
    EXPECT_EQ(ReadWords({"--config", file.c_str()}).text,
              "program: " + file + ": line 2: " + key + " is empty [misuse]\n");
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace leadline::flags
