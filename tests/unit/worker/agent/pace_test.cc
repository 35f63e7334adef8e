#include "worker/agent/pace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

class PaceTest : public ::testing::Test {
 protected:
  /// Looks every second for so long, while a record comes every `every`.
  void Live(seconds time, seconds every, double cpu_share) {
    for (seconds passed{1}; passed <= time; ++passed) {
      now_ += seconds(1);
      if (every.count() > 0 && passed.count() % every.count() == 0) {
        activity_.event_bytes += 100;
      }
      activity_.cpu_seconds += cpu_share;
      pace_.See(activity_, now_);
      hung_ = hung_ || pace_.WhyHung();
    }
  }
  void StandStill(seconds time, double cpu_share = 0) {
    Live(time, seconds(0), cpu_share);
  }

  Pace::SteadyTime now_{};
  Pace pace_{HangPolicy{}, now_};
  Activity activity_;
  bool hung_ = false;
};

TEST_F(PaceTest, OneThatStandsStillHangsAfterTenMinutes) {
  Live(seconds(60), seconds(1), 1);
  StandStill(minutes(10));
  EXPECT_FALSE(hung_);
  StandStill(seconds(1));
  ASSERT_TRUE(hung_);
  EXPECT_THAT(*pace_.WhyHung(), HasSubstr("no record for 601 s"));
  EXPECT_THAT(*pace_.WhyHung(), HasSubstr("longest wait before was 1 s"));
  EXPECT_THAT(*pace_.WhyHung(), HasSubstr("no processor time"));
}

TEST_F(PaceTest, OneThatIsSlowButStepsIsNeverTakenToHang) {
  // Ten times slower than it was, and then ten times again, for a day.
  Live(minutes(10), seconds(3), 1);
  Live(minutes(60), seconds(30), 0);
  Live(minutes(24 * 60), seconds(300), 0);
  EXPECT_FALSE(hung_);
}

TEST_F(PaceTest, OneThatSaysWhatItWaitsForIsNeverTakenToHang) {
  Live(seconds(60), seconds(1), 1);
  activity_.waits = "room";
  StandStill(minutes(600));
  EXPECT_FALSE(hung_);
  EXPECT_EQ(pace_.waits(), "room");
  // It is no measure of what it may take afterwards.
  activity_.waits.clear();
  StandStill(seconds(601));
  EXPECT_TRUE(hung_);
}

TEST_F(PaceTest, ALongWaitOfItsOwnIsTheMeasure) {
  Live(minutes(20), seconds(300), 0);
  StandStill(minutes(50));
  EXPECT_FALSE(hung_);
  StandStill(seconds(2));
  EXPECT_TRUE(hung_);
}

TEST_F(PaceTest, AWaitThatAFormerAgentSawCountsToo) {
  pace_.NoteWait(seconds(300));
  StandStill(minutes(49));
  EXPECT_FALSE(hung_);
}

TEST_F(PaceTest, OneThatComputesIsGivenMoreTimeButNotForEver) {
  Live(seconds(60), seconds(1), 1);
  StandStill(minutes(59), 1);
  EXPECT_FALSE(hung_);
  StandStill(minutes(2), 1);
  ASSERT_TRUE(hung_);
  EXPECT_THAT(*pace_.WhyHung(), HasSubstr("of processor time"));
}

TEST_F(PaceTest, OneThatIsStoppedIsNamed) {
  activity_.is_stopped = true;
  StandStill(minutes(11));
  ASSERT_TRUE(hung_);
  EXPECT_TRUE(pace_.is_stopped());
  EXPECT_THAT(*pace_.WhyHung(), HasSubstr("SIGSTOP"));
}

TEST_F(PaceTest, TimeDuringWhichNobodyLookedDoesNotCount) {
  // The agent was stopped for a day, and the trainer with it.
  Live(seconds(60), seconds(1), 1);
  now_ += minutes(24 * 60);
  pace_.See(activity_, now_);
  EXPECT_FALSE(pace_.WhyHung());
  StandStill(minutes(9));
  EXPECT_FALSE(hung_);
}

TEST_F(PaceTest, IsLookedAtOnceASecond) {
  EXPECT_FALSE(pace_.IsDue(now_ + milliseconds(999)));
  EXPECT_TRUE(pace_.IsDue(now_ + milliseconds(1000)));
}

}  // namespace
}  // namespace leadline::agent
