#include "worker/agent/config.h"

#include <cstdlib>
#include <fstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scratch_folder.h"

namespace leadline::agent {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Launch Parse(std::vector<std::string> words) {
  words.insert(words.begin(), "leadline-agent");
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  return ParseCommandLine(static_cast<int>(pointers.size()), pointers.data(),
                          "1", {"myhost", "/opt/leadline-trainer"});
}

class AgentConfigFile : public testing::Test {
 protected:
  Launch Read(const std::string& text, std::vector<std::string> more = {}) {
    std::ofstream(file_) << text;
    more.insert(more.begin(), {"--config", file_});
    return Parse(std::move(more));
  }

  ScratchFolder folder_;
  std::string file_ = (folder_.path() / "agent.conf").string();
};

TEST(AgentConfig, DefaultsComeFromTheMachineAndTheTable) {
  const Launch launch = Parse({"--state", "/s/../t", "--coordinator", "h:1"});
  ASSERT_TRUE(launch.config) << launch.text;
  EXPECT_EQ(launch.config->state, "/t");
  EXPECT_EQ(launch.config->node, "myhost");
  EXPECT_EQ(launch.config->trainer, "/opt/leadline-trainer");
  EXPECT_FALSE(launch.config->slots);
  EXPECT_EQ(launch.config->data.folder, "/t/data");
  EXPECT_EQ(launch.config->hang_after, std::chrono::seconds(600));
  EXPECT_FALSE(launch.config->is_private);
}

TEST(AgentConfig, MisuseEndsWithTwoAndOneMessageThatNamesTheKey) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{}, "--state is required"},
      {{"--state", "x"}, "--coordinator is required"},
      {{"--state", "x", "--coordinator", "nowhere"}, "HOST:PORT"},
      {{"--state", "x", "--coordinator", "http://h:1"}, "leave out http://"},
      {{"--state", "x", "--coordinator", "h:1", "--slots", "0"}, "--slots"},
      {{"--state", "x", "--coordinator", "h:1", "--slots", "two"}, "--slots"},
      {{"--state", "x", "--coordinator", "h:1", "--node", "a b"}, "--node"},
      {{"--state", "x", "--coordinator", "h:1", "--what"}, "--what"},
      {{"--state", "x", "--data-url", "file:///etc"}, "--data-url"},
      {{"--config", "/nowhere/at/all"}, "/nowhere/at/all"}};
  for (const auto& [words, expected] : cases) {
    const Launch launch = Parse(words);
    EXPECT_FALSE(launch.config) << expected;
    EXPECT_EQ(launch.exit_code, 2) << launch.text;
    EXPECT_THAT(launch.text,
                AllOf(HasSubstr("leadline-agent: "), HasSubstr(expected)));
    EXPECT_EQ(std::count(launch.text.begin(), launch.text.end(), '\n'), 1);
  }
}

TEST(AgentConfig, FetchingNeedsADataFolderAndNoCoordinator) {
  EXPECT_TRUE(Parse({"--data", "d", "--fetch", "text8"}).config);
  EXPECT_FALSE(Parse({"--fetch", "text8"}).config);
}

TEST_F(AgentConfigFile, PrintedSettingsReadBackAsTheSame) {
  const std::vector<std::string> words = {
      "--state", "/s t/\"q\"", "--coordinator",  "unix:/a b",
      "--slots", "3",          "--private",      "--keep-mb",
      "7",       "--data-url", "http://mirror/x"};
  std::vector<std::string> printing = words;
  printing.push_back("--print-config");
  const Launch printed = Parse(printing);
  ASSERT_EQ(printed.exit_code, 0) << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("node=myhost\n"));
  EXPECT_THAT(printed.text,
              HasSubstr("# checkpoints is not set: checkpoints in the state "
                        "folder\n"));
  EXPECT_THAT(printed.text, HasSubstr("# tls-cert is not set\n"));
  const Launch read = Read(printed.text);
  ASSERT_TRUE(read.config) << read.text;
  EXPECT_EQ(read.config->state, "/s t/\"q\"");
  EXPECT_EQ(read.config->slots, 3);
  EXPECT_TRUE(read.config->is_private);
  EXPECT_EQ(Read(printed.text, {"--print-config"}).text, printed.text);
}

TEST(AgentConfig, PrintsNoSettingsThatWouldBeRefused) {
  const Launch launch =
      Parse({"--state", "/s", "--node", "a b", "--print-config"});
  EXPECT_EQ(launch.exit_code, 2);
  EXPECT_THAT(launch.text, HasSubstr("--coordinator is required"));
}

/// Puts variables away again.
class AgentVariables : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"LEADLINE_TOKEN", "LEADLINE_TOKEN_FILE",
                             "LEADLINE_TLS_CERT", "LEADLINE_TLS_KEY"}) {
      ::unsetenv(name);
    }
  }
  static Launch ParseMore(std::vector<std::string> words) {
    words.insert(words.begin(), {"--state", "/s", "--coordinator", "h:1"});
    return Parse(std::move(words));
  }
};

TEST_F(AgentVariables, ATokenIsSoughtInTheOrderOfAllPrograms) {
  ::setenv("LEADLINE_TOKEN_FILE", "/of/the/variable", 1);
  EXPECT_EQ(ParseMore({}).config->token.file, "/of/the/variable");
  EXPECT_THAT(ParseMore({"--print-config"}).text,
              HasSubstr("token-file=/of/the/variable\n"));
  ::setenv("LEADLINE_TOKEN", "word", 1);
  EXPECT_EQ(ParseMore({}).config->token.token, "word");
  EXPECT_EQ(ParseMore({}).config->token.file, "");
  EXPECT_THAT(ParseMore({"--print-config"}).text,
              AllOf(HasSubstr("# token-file is not set: the token in "
                              "LEADLINE_TOKEN"),
                    testing::Not(HasSubstr("word"))));
  const Launch named = ParseMore({"--token-file", "/named"});
  EXPECT_EQ(named.config->token.file, "/named");
  EXPECT_EQ(named.config->token.token, "");
}

TEST_F(AgentVariables, ACertificateAndItsKeyComeFromOneSource) {
  ::setenv("LEADLINE_TLS_CERT", "/v.pem", 1);
  ::setenv("LEADLINE_TLS_KEY", "/v.key", 1);
  EXPECT_EQ(ParseMore({}).config->tls.key, "/v.key");
  EXPECT_EQ(ParseMore({"--tls-cert", "/g.pem"}).config->tls.key, "");
}

TEST_F(AgentConfigFile, TheCommandLineWins) {
  const Launch launch =
      Read("state=/s\ncoordinator=h:1\nslots=2\n", {"--slots", "5"});
  ASSERT_TRUE(launch.config) << launch.text;
  EXPECT_EQ(launch.config->slots, 5);
}

TEST_F(AgentConfigFile, EveryMistakeNamesTheFileAndTheKey) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"state=/s\nslotz=1\n", "line 2: unknown key slotz"},
      {"state=/s\nslots=many\n", "slots"},
      {"slots=1025\n", "slots"},
      {"slots=1\n# x\nslots=1\n", "line 3: key slots stands there twice"},
      {"private=maybe\n", "private is true or false"},
      {"state\n", "line 1: expected KEY=VALUE"},
      {"[section]\nslots=1\n", "line 1: expected KEY=VALUE"},
      {"state=\"/s\n", "quotation mark"},
      {"state='a'b'\n", "quotation mark"},
      {"fetch=text8\n", "command line alone"},
      {"config=other\n", "command line alone"},
      {"slots=\n", "slots"}};
  for (const auto& [text, expected] : cases) {
    const Launch launch = Read(text, {"--coordinator", "h:1"});
    EXPECT_EQ(launch.exit_code, 2) << text;
    EXPECT_THAT(launch.text, AllOf(HasSubstr(file_), HasSubstr(expected)))
        << text;
  }
}

TEST_F(AgentConfigFile, AMistakeOnTheCommandLineIsNotPutDownToTheFile) {
  const Launch launch = Read("state=/s\n", {"--slots", "none"});
  EXPECT_EQ(launch.exit_code, 2);
  EXPECT_THAT(launch.text, testing::Not(HasSubstr(file_)));
}

}  // namespace
}  // namespace leadline::agent
