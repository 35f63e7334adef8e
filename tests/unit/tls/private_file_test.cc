#include "tls/private_file.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/store_world.h"

namespace leadline::tls {
namespace {

using testing::HasSubstr;

class PrivateFileTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& text, mode_t mode = 0600) {
    const std::string path = (folder_.path() / "secret").string();
    std::ofstream(path, std::ios::trunc) << text;
    chmod(path.c_str(), mode);
    return path;
  }
  std::string WhyNot(const std::string& path) {
    const auto read = ReadSecretWord("the token", path);
    EXPECT_TRUE(absl::IsInvalidArgument(read.status())) << read.status();
    return std::string(read.status().message());
  }

  test::TemporaryFolder folder_;
};

TEST_F(PrivateFileTest, AWordIsReadWithoutItsLineEnd) {
  EXPECT_EQ(*ReadSecretWord("the token", Write("abc\n")), "abc");
  EXPECT_EQ(*ReadSecretWord("the token", Write("  abc\r\n\n", 0640)), "abc");
}

TEST_F(PrivateFileTest, WhatOthersMayReadIsRefusedWithTheWayOut) {
  for (const mode_t mode : {0604, 0602, 0644, 0666, 0620}) {
    const std::string path = Write("abc", mode);
    EXPECT_THAT(WhyNot(path), HasSubstr("chmod 600 " + path)) << mode;
  }
}

TEST_F(PrivateFileTest, WhatIsNoSecretKeepsItsMode) {
  EXPECT_THAT(WhyNot(Write("-----BEGIN CERTIFICATE-----\n", 0644)),
              HasSubstr("more than one word"));
  EXPECT_THAT(WhyNot(Write("", 0644)), HasSubstr("empty"));
}

TEST_F(PrivateFileTest, WhatIsNoSecretIsRefused) {
  EXPECT_THAT(WhyNot(Write("")), HasSubstr("empty"));
  EXPECT_THAT(WhyNot(Write(" \n")), HasSubstr("empty"));
  EXPECT_THAT(WhyNot(Write("one two")), HasSubstr("more than one word"));
  EXPECT_THAT(WhyNot(Write(std::string(2 << 20, 'x'))), HasSubstr("too large"));
  EXPECT_THAT(WhyNot(folder_.path().string()), HasSubstr("no file"));
  EXPECT_THAT(WhyNot((folder_.path() / "none").string()),
              HasSubstr("No such file"));
  const std::string pipe = (folder_.path() / "pipe").string();
  mkfifo(pipe.c_str(), 0600);
  EXPECT_THAT(WhyNot(pipe), HasSubstr("no file"));
}

}  // namespace
}  // namespace leadline::tls
