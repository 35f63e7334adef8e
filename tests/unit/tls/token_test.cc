#include "tls/token.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/store_world.h"

namespace leadline::tls {
namespace {

class TokenTest : public ::testing::Test {
 protected:
  void TearDown() override {
    ::unsetenv("LEADLINE_TOKEN");
    ::unsetenv("LEADLINE_TOKEN_FILE");
  }
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path) << text << "\n";
    chmod(path.c_str(), 0600);
    return path;
  }
  static std::string Read(const std::string& named_file) {
    const auto token = ReadToken(FindToken(named_file));
    return token.ok() ? *token : token.status().ToString();
  }

  test::TemporaryFolder folder_;
};

TEST_F(TokenTest, TheNamedFileStandsAboveTheTokenAndThatAboveTheOtherFile) {
  const std::string named = Write("named", "of_the_named_file");
  const std::string other = Write("other", "of_the_variables_file");
  EXPECT_EQ(Read(""), "");
  ::setenv("LEADLINE_TOKEN_FILE", other.c_str(), 1);
  EXPECT_EQ(Read(""), "of_the_variables_file");
  ::setenv("LEADLINE_TOKEN", "of_the_variable", 1);
  EXPECT_EQ(Read(""), "of_the_variable");
  EXPECT_EQ(Read(named), "of_the_named_file");
  ::setenv("LEADLINE_TOKEN", "", 1);
  EXPECT_EQ(Read(""), "of_the_variables_file");
}

TEST_F(TokenTest, AFileThatCountsAndCannotBeReadIsNotPassedOver) {
  ::setenv("LEADLINE_TOKEN", "of_the_variable", 1);
  const auto token = ReadToken(FindToken((folder_.path() / "none").string()));
  EXPECT_TRUE(absl::IsInvalidArgument(token.status())) << token.status();
}

}  // namespace
}  // namespace leadline::tls
