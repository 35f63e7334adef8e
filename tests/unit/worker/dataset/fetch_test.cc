#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fetch_world.h"
#include "worker/dataset/data_error.h"
#include "worker/dataset/fetch/download.h"
#include "worker/dataset/fetch/fetch_dataset.h"

namespace leadline::dataset {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

class FetchTest : public FetchWorld {};

TEST_F(FetchTest, WhatIsMissingIsFetchedOnceAndKept) {
  const auto path = Fetch("plain");
  EXPECT_EQ(path, options_.folder / "text");
  EXPECT_EQ(Contents(path), text_);
  EXPECT_FALSE(std::filesystem::exists(part()));
  server_.Stop();
  EXPECT_EQ(FetchDataset(info_, options_), path);
  EXPECT_THAT(Requests(), ElementsAre("text 0"));
}

TEST_F(FetchTest, CutConnectionGoesOnWhereItWas) {
  EXPECT_EQ(Contents(Fetch("cut")), text_);
  EXPECT_THAT(Requests(), ElementsAre("text 0", "text 70000", "text 140000",
                                      "text 210000", "text 280000"));
}

TEST_F(FetchTest, ServerWithoutRangesBeginsAnew) {
  EXPECT_THROW(Fetch("cut_no_ranges"), DataError);
  EXPECT_EQ(std::filesystem::file_size(part()), 70'000U);
  EXPECT_EQ(Contents(Fetch("no_ranges")), text_);
}

TEST_F(FetchTest, CutThatNeverGetsFurtherEndsAndKeepsWhatCame) {
  EXPECT_THAT([&] { Fetch("stuck"); },
              ThrowsMessage<DataError>(HasSubstr("70000 of")));
  EXPECT_THAT(Requests(), SizeIs(1 + options_.limits.tries));
  EXPECT_EQ(Contents(Fetch("plain")), text_);
  EXPECT_EQ(Requests().back(), "text 70000");
}

TEST_F(FetchTest, ServerThatIsBusyIsAskedAgain) {
  EXPECT_EQ(Contents(Fetch("busy_once")), text_);
  EXPECT_THAT(Requests(), SizeIs(2));
}

TEST_F(FetchTest, RedirectIsFollowed) {
  EXPECT_EQ(Contents(Fetch("moved")), text_);
}

TEST_F(FetchTest, BeginningOfAnotherFileIsFetchedAnew) {
  std::filesystem::create_directories(options_.folder);
  std::ofstream(part()) << "of an earlier version";
  EXPECT_EQ(Contents(Fetch("plain")), text_);
  EXPECT_THAT(Requests(), ElementsAre("text 21", "text 0"));
}

TEST_F(FetchTest, ProcessesThatAskAtOnceFetchOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) children.push_back(FetchInChild("hold"));
  WaitUntil([&] { return std::filesystem::exists(part()); });
  Release();
  for (const pid_t child : children) EXPECT_EQ(StatusOf(child), 0);
  EXPECT_THAT(Requests(), ElementsAre("text 0"));
}

TEST_F(FetchTest, WhoWaitsHearsHowFarTheOtherIs) {
  const pid_t child = FetchInChild("hold");
  const size_t half = text_.size() / 2;
  WaitUntil([&] {
    std::error_code none;
    return std::filesystem::file_size(part(), none) == half && !none;
  });
  int64_t heard = -1;
  options_.tell = [&](const FetchProgress& progress) {
    if (progress.doing != "waiting for" || heard >= 0) return;
    heard = progress.done;
    Release();
  };
  EXPECT_EQ(Contents(Fetch("plain")), text_);
  EXPECT_EQ(heard, static_cast<int64_t>(half));
  EXPECT_EQ(StatusOf(child), 0);
  EXPECT_THAT(Requests(), SizeIs(1));
}

TEST_F(FetchTest, KilledProcessLeavesItsPartToTheNext) {
  const pid_t child = FetchInChild("hold");
  const size_t half = text_.size() / 2;
  WaitUntil([&] {
    std::error_code none;
    return std::filesystem::file_size(part(), none) == half && !none;
  });
  kill(child, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(StatusOf(child)));
  EXPECT_FALSE(IsThere("text"));
  EXPECT_EQ(Contents(Fetch("plain")), text_);
  EXPECT_EQ(Requests().back(), "text " + std::to_string(half));
}

TEST_F(FetchTest, StopEndsItSoonAndKeepsWhatCame) {
  std::stop_source stop;
  options_.stop = stop.get_token();
  options_.tell = [&](const FetchProgress& progress) {
    if (progress.done == static_cast<int64_t>(text_.size() / 2)) {
      stop.request_stop();
    }
  };
  EXPECT_THROW(Fetch("hold"), FetchStopped);
  EXPECT_EQ(std::filesystem::file_size(part()), text_.size() / 2);
}

TEST_F(FetchTest, StopEndsTheWaitForASilentServer) {
  std::stop_source stop;
  options_.stop = stop.get_token();
  options_.limits.http.stall = std::chrono::seconds(60);
  std::jthread stopper([&] {
    WaitUntil([&] { return !Requests().empty(); });
    stop.request_stop();
  });
  EXPECT_THROW(Fetch("silent"), FetchStopped);
}

TEST_F(FetchTest, HeldOutFileIsFetchedToo) {
  std::ofstream(served_.path() / "valid") << "held out";
  const std::string hash = Sha256Of("held out");
  info_.held_out_file = "valid";
  info_.held_out_bytes = 8;
  info_.held_out_hash = hash;
  info_.held_out_source.url = "http://elsewhere.invalid/valid";
  EXPECT_EQ(Contents(Fetch("plain")), text_);
  EXPECT_EQ(Contents(options_.folder / "valid"), "held out");
}

TEST_F(FetchTest, WithoutANetworkEveryFileToPutIsNamed) {
  info_.held_out_file = "valid";
  info_.held_out_bytes = 8;
  info_.held_out_hash = "0123";
  info_.held_out_source.url = "http://elsewhere.invalid/valid";
  server_.Stop();
  EXPECT_THAT([&] { Fetch("plain"); },
              ThrowsMessage<DataError>(AllOf(
                  HasSubstr("connect"), HasSubstr(server_.With("plain/valid")),
                  HasSubstr("http://elsewhere.invalid/some/where/text (300"),
                  HasSubstr("sha256:" + hash_),
                  HasSubstr((options_.folder / "text").string()),
                  HasSubstr((options_.folder / "valid").string()),
                  HasSubstr("(8 bytes, sha256:0123)"))));
  EXPECT_FALSE(std::filesystem::exists(options_.folder / "valid.part"));
}

TEST_F(FetchTest, FileThatWasPutByHandIsVerifiedAndNeverChanged) {
  std::filesystem::create_directories(options_.folder);
  const auto path = options_.folder / "text";
  std::ofstream(path) << "half";
  EXPECT_THAT([&] { Fetch("plain"); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("has 4 bytes"), HasSubstr("remove it"))));
  EXPECT_EQ(Contents(path), "half");
  std::string wrong = text_;
  wrong[5] ^= 1;
  std::ofstream(path, std::ios::binary) << wrong;
  EXPECT_THAT([&] { Fetch("plain"); },
              ThrowsMessage<DataError>(HasSubstr("has hash")));
  EXPECT_EQ(Contents(path), wrong);
  std::ofstream(path, std::ios::binary) << text_;
  EXPECT_EQ(Fetch("plain"), path);
  EXPECT_THAT(Requests(), SizeIs(0));
}

TEST_F(FetchTest, FileIsHashedAgainOnlyOnceItHasChanged) {
  VerifiedFiles verified;
  options_.verified = &verified;
  const auto path = Fetch("plain");
  int checks = 0;
  options_.tell = [&](const FetchProgress& progress) {
    checks += progress.doing == "checking" ? 1 : 0;
  };
  Fetch("plain");
  EXPECT_EQ(checks, 1);
  Fetch("plain");
  EXPECT_EQ(checks, 1);
  std::string wrong = text_;
  wrong[7] ^= 1;
  std::ofstream(path, std::ios::binary) << wrong;
  EXPECT_THROW(Fetch("plain"), DataError);
  EXPECT_EQ(checks, 2);
}

TEST(AddressOf, BaseReplacesAllButTheName) {
  const std::string url = "https://host/dir/file.txt";
  EXPECT_EQ(AddressOf(url, ""), url);
  EXPECT_EQ(AddressOf(url, "http://m/x"), "http://m/x/file.txt");
  EXPECT_EQ(AddressOf(url, "http://m/x/"), "http://m/x/file.txt");
}

TEST(WhyNotBase, NamesWhatIsWrong) {
  EXPECT_EQ(WhyNotBase(""), "");
  EXPECT_EQ(WhyNotBase("https://mirror.example/data/"), "");
  for (const char* bad : {"ftp://m/", "file:///etc", "m/x", "http://u:p@m/",
                          "http://m/ x", "http://m/\n", "http://m/?a="}) {
    EXPECT_NE(WhyNotBase(bad), "") << bad;
  }
}

}  // namespace
}  // namespace leadline::dataset
