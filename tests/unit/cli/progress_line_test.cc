#include "cli/progress_line.h"

#include <limits>

#include <gtest/gtest.h>

namespace leadline::cli {
namespace {

v1::Progress Example() {
  v1::Progress progress;
  progress.set_sweep("s1");
  progress.set_planned(24);
  (*progress.mutable_trials())["succeeded"] = 11;
  (*progress.mutable_trials())["diverged"] = 1;
  (*progress.mutable_trials())["running"] = 2;
  (*progress.mutable_trials())["queued"] = 10;
  progress.set_fraction_done(0.512);
  progress.set_tokens_per_second(12345);
  progress.set_seconds_left(185);
  return progress;
}

TEST(ProgressLine, CountsEveryTrialAndForecasts) {
  EXPECT_EQ(ProgressLine(Example()),
            "s1: 12/24 done, 2 running, 10 queued, 1 diverged, "
            "51 %, 12.3k tokens/s, 3 min 05 s left");
}

TEST(ProgressLine, SaysWhatIsWaitedFor) {
  v1::Progress progress;
  progress.set_sweep("s1");
  progress.set_planned(2);
  (*progress.mutable_trials())["queued"] = 2;
  progress.set_waiting_for("no live agents, 2 queued");
  EXPECT_EQ(ProgressLine(progress),
            "s1: 0/2 done, 0 running, 2 queued, 0 %, waiting: no "
            "live agents, 2 queued");
}

TEST(ProgressLine, BearsNumbersThatAreNone) {
  v1::Progress progress = Example();
  progress.set_fraction_done(std::numeric_limits<double>::quiet_NaN());
  progress.set_seconds_left(-1);
  EXPECT_NE(ProgressLine(progress).find("? left"), std::string::npos);
}

TEST(FailureLine, NamesTrialAttemptKindAndLog) {
  v1::TrialFailure failure;
  failure.set_trial("s1.3.0");
  failure.set_attempt("s1.3.0@2");
  failure.set_kind("oom");
  failure.set_message("out of memory\x1b[2J");
  EXPECT_EQ(FailureLine(failure, Style{}),
            "failed, will be tried again: s1.3.0 (s1.3.0@2), oom: out of "
            "memory\\x1b[2J; leadline logs s1.3.0 shows its log");
  failure.set_is_final(true);
  EXPECT_EQ(FailureLine(failure, Style{}).substr(0, 15), "failed: s1.3.0 ");
}

TEST(ProgressJson, HasEveryStateEvenWhereNoneIsInIt) {
  const Json json = ProgressJson(Example());
  EXPECT_EQ(json["trials"].size(), 9U);
  EXPECT_EQ(json["trials"]["failed"], 0);
  EXPECT_EQ(json["trials"]["succeeded"], 11);
}

}  // namespace
}  // namespace leadline::cli
