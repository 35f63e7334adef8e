#include "logging/open_log.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/stat.h>

namespace leadline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class OpenLogTest : public testing::Test {
 protected:
  OpenLogTest() {
    std::string pattern = (fs::temp_directory_path() / "log-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~OpenLogTest() override { fs::remove_all(folder_); }

  std::vector<std::string> Lines() const {
    std::ifstream file(folder_ / "x.log");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  fs::path folder_;
};

TEST_F(OpenLogTest, LinesBelowTheLevelAreLeftOut) {
  const auto log =
      OpenFileLog(folder_ / "x.log", {LogFormat::kText, LogLevel::kWarning});
  ASSERT_TRUE(log.ok()) << log.status();
  (*log)->Write(LogLevel::kInfo, "small", {});
  (*log)->Write(LogLevel::kWarning, "large", {{"pattern", "%v {} %%"}});
  ASSERT_EQ(Lines().size(), 1U);
  EXPECT_THAT(Lines()[0], HasSubstr("Z warning large pattern=\"%v {} %%\""));
}

TEST_F(OpenLogTest, LinesOfSeveralThreadsStayWhole) {
  const auto log =
      OpenFileLog(folder_ / "x.log", {LogFormat::kJson, LogLevel::kDebug});
  ASSERT_TRUE(log.ok());
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&log] {
        for (int n = 0; n < 100; ++n) {
          (*log)->Write(LogLevel::kInfo, "e", {{"n", std::string(500, 'x')}});
        }
      });
    }
  }
  const auto lines = Lines();
  EXPECT_EQ(lines.size(), 400U);
  for (const std::string& line : lines) {
    EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  }
}

TEST_F(OpenLogTest, WhatIsNoFileIsRefusedAtOnce) {
  const fs::path pipe = folder_ / "x.log";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);  // to open it would wait
  for (const fs::path& path : {pipe, fs::path("/dev/null"), folder_}) {
    const auto log = OpenFileLog(path, {});
    EXPECT_TRUE(absl::IsFailedPrecondition(log.status())) << path;
    EXPECT_THAT(std::string(log.status().message()), HasSubstr("is no file"));
  }
}

TEST_F(OpenLogTest, AFullDiskCostsLinesAndTellsHowMany) {
  const auto log = OpenFileLog(folder_ / "x.log", {});
  ASSERT_TRUE(log.ok());
  (*log)->Write(LogLevel::kInfo, "before", {});
  signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  getrlimit(RLIMIT_FSIZE, &usual);
  const rlimit full{40, usual.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  for (int i = 0; i < 3; ++i) (*log)->Write(LogLevel::kInfo, "during", {});
  setrlimit(RLIMIT_FSIZE, &usual);
  (*log)->Write(LogLevel::kInfo, "after", {});
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0], HasSubstr("before"));
  EXPECT_THAT(lines[1], HasSubstr("error log_lines_lost count=3"));
  EXPECT_THAT(lines[2], HasSubstr("after"));
}

TEST_F(OpenLogTest, APlaceThatCannotBeWrittenIsNamed) {
  const auto log = OpenFileLog(folder_ / "no" / "x.log", {});
  EXPECT_THAT(std::string(log.status().message()), HasSubstr("no/x.log"));
  EXPECT_THAT(std::string(log.status().message()),
              HasSubstr("No such file or directory"));
}

TEST(LogFlagsTest, OtherWordsAreMisuse) {
  CLI::App app;
  LogFlags flags;
  AddLogFlags(app, flags);
  app.parse("--log-format json --log-level error");
  EXPECT_EQ(ToLogOptions(flags).format, LogFormat::kJson);
  EXPECT_EQ(ToLogOptions(flags).level, LogLevel::kError);
  EXPECT_THROW(app.parse("--log-level loud"), CLI::ParseError);
}

}  // namespace
}  // namespace leadline
