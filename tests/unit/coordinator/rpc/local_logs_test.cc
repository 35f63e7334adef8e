#include "coordinator/rpc/local_logs.h"

#include <cstdlib>
#include <fstream>
#include <future>

#include <gtest/gtest.h>

#include "tests/unit/coordinator/rpc/results_world.h"

namespace leadline::rpc {
namespace {

namespace fs = std::filesystem;

class LocalLogsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "logs_XXXXXX").string();
    state_ = mkdtemp(name.data());
    fs::create_directories(state_ / "attempts/s1.2.c0@3");
    others_.text = "from the agent";
  }
  void TearDown() override { fs::remove_all(state_); }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(state_ / "attempts/s1.2.c0@3" / name) << text;
  }

  absl::StatusOr<LogPiece> Read(const std::string& stream, int64_t offset = 0,
                                int64_t limit = 100, int64_t attempt = 3) {
    Background background(1);
    LocalLogs logs(state_, background, others_);
    std::promise<absl::StatusOr<LogPiece>> answer;
    logs.ReadLog("node", {{{{{1}, 2}, 0}, attempt}, stream, offset, limit},
                 [&](absl::StatusOr<LogPiece> piece) {
                   answer.set_value(std::move(piece));
                 });
    return answer.get_future().get();
  }

  fs::path state_;
  FakeLogs others_;
};

TEST_F(LocalLogsTest, ReadsTheAttemptsOwnFilesPieceByPiece) {
  Write("stderr.log", "0123456789");
  Write("events.jsonl", "{}\n");
  const auto first = Read("stderr", 0, 4);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->data, "0123");
  EXPECT_FALSE(first->at_end);
  const auto last = Read("stderr", 8, 4);
  EXPECT_EQ(last->data, "89");
  EXPECT_TRUE(last->at_end);
  EXPECT_EQ(Read("events")->data, "{}\n");
  EXPECT_EQ(others_.asked(), 0);
}

TEST_F(LocalLogsTest, ReadsThoseOfFurtherRanksBelow) {
  fs::create_directories(state_ / "attempts/s1.2.c0@3/rank-1");
  Write("stderr.log", "first");
  Write("rank-1/stderr.log", "second");
  Background background(1);
  LocalLogs logs(state_, background, others_);
  for (const int64_t rank : {0, 1}) {
    std::promise<absl::StatusOr<LogPiece>> answer;
    logs.ReadLog("node", {{{{{1}, 2}, 0}, 3}, "stderr", 0, 100, rank},
                 [&](absl::StatusOr<LogPiece> piece) {
                   answer.set_value(std::move(piece));
                 });
    EXPECT_EQ(answer.get_future().get()->data, rank == 0 ? "first" : "second");
  }
}

TEST_F(LocalLogsTest, AsksTheAgentForAttemptsThatRanElsewhere) {
  EXPECT_EQ(Read("stderr", 0, 100, 4)->data, "from the agent");
  EXPECT_EQ(others_.last_node(), "node");
}

TEST_F(LocalLogsTest, WhatIsNotThereHasNotBegunOrIsGone) {
  const auto gone = Read("stderr");
  EXPECT_TRUE(absl::IsNotFound(gone.status()));
  EXPECT_NE(gone.status().message().find("--keep-days"), std::string::npos);
  Write("held.json", "{}");
  const auto not_yet = Read("stderr");
  ASSERT_TRUE(not_yet.ok()) << not_yet.status();
  EXPECT_EQ(not_yet->data, "");
  EXPECT_TRUE(not_yet->at_end);
}

TEST_F(LocalLogsTest, DoesNotFollowALinkOutOfTheFolder) {
  fs::create_symlink("/etc/hostname", state_ / "attempts/s1.2.c0@3/stdout.log");
  EXPECT_TRUE(absl::IsNotFound(Read("stdout").status()));
  EXPECT_TRUE(absl::IsNotFound(Read("stderr").status()));
}

}  // namespace
}  // namespace leadline::rpc
