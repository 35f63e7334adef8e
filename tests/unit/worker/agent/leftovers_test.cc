#include "worker/agent/leftovers.h"

#include <thread>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/support/scratch_folder.h"
#include "worker/agent/attempt_folder.h"
#include "worker/agent/attempt_message.h"
#include "worker/agent/hold_record.h"
#include "worker/agent/process_group.h"
#include "worker/agent/trainer_launcher.h"

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;

class LeftoversTest : public ::testing::Test {
 protected:
  void SetUp() override {
    v1::Attempt attempt;
    attempt.set_cohort("s1.1.c0");
    attempt.set_number(1);
    folder_ = AttemptFolder(state_.path(), *FromMessage(attempt));
    ASSERT_TRUE(MakeAttemptFolder(folder_).ok());
  }

  pid_t Launch(const std::string& script) {
    std::ofstream(folder_ / "config.json") << script;
    const auto pid = LaunchTrainer({"/bin/sh", folder_, 1});
    EXPECT_TRUE(pid.ok());
    return *pid;
  }

  bool End(HeldAttempts held, milliseconds patience) {
    return EndLeftovers(state_.path(), boot_, held, patience);
  }

  void Hold() {
    ASSERT_TRUE(WriteHold(folder_, {{"cpu:0"}, "/d", "cpu"}).ok());
  }

  void Record(pid_t pid, const std::string& boot, uint64_t start_time) {
    ASSERT_TRUE(
        WriteProcessRecord(folder_, {boot, pid, start_time, pid, "s1.1.c0@1"})
            .ok());
  }

  /// A child that is nobody's attempt, in a group of its own.
  static pid_t Stranger() {
    const pid_t pid = fork();
    if (pid == 0) {
      setpgid(0, 0);
      pause();
      _exit(0);
    }
    setpgid(pid, pid);
    return pid;
  }

  static bool HasEnded(pid_t pid) {
    const auto stat = ReadProcStat(pid);
    return !stat || !stat->IsAlive();
  }

  const std::string boot_ = ReadBootId();
  ScratchFolder state_;
  std::filesystem::path folder_;
};

TEST_F(LeftoversTest, AnEmptyStateHasNone) {
  const ScratchFolder empty;
  EXPECT_TRUE(FindLeftovers(empty.path(), boot_, HeldAttempts::kEnd).empty());
  EXPECT_TRUE(
      EndLeftovers(empty.path(), boot_, HeldAttempts::kEnd, milliseconds(1)));
}

TEST_F(LeftoversTest, ARecordedTrainerThatIgnoresSigtermIsEndedWithItsGroup) {
  Hold();
  const pid_t pid = Launch("trap '' TERM; sleep 60 & while :; do wait; done");
  Record(pid, boot_, ReadProcStat(pid)->start_time);
  EXPECT_TRUE(End(HeldAttempts::kEnd, milliseconds(300)));
  EXPECT_TRUE(LivingMembers(pid).empty());
  waitpid(pid, nullptr, 0);
}

TEST_F(LeftoversTest, ATrainerThatWasNeverRecordedIsKnownByItsEnvironment) {
  const pid_t pid = Launch("sleep 60");
  EXPECT_TRUE(End(HeldAttempts::kEnd, milliseconds(2000)));
  EXPECT_TRUE(HasEnded(pid));
  waitpid(pid, nullptr, 0);
}

TEST_F(LeftoversTest, WhatIsHeldIsSparedUnlessNobodyGoesOnWithIt) {
  Hold();
  const pid_t pid = Launch("sleep 60");
  Record(pid, boot_, ReadProcStat(pid)->start_time);
  EXPECT_TRUE(End(HeldAttempts::kSpare, milliseconds(100)));
  EXPECT_FALSE(HasEnded(pid));
  EXPECT_FALSE(IsInterrupted(folder_));
  EXPECT_TRUE(End(HeldAttempts::kEnd, milliseconds(2000)));
  EXPECT_TRUE(HasEnded(pid));
  EXPECT_TRUE(IsInterrupted(folder_));
  waitpid(pid, nullptr, 0);
}

TEST_F(LeftoversTest, WhatWasBeingBrokenOffIsEnded) {
  Hold();
  MarkInterrupted(folder_);
  const pid_t pid = Launch("sleep 60");
  EXPECT_TRUE(End(HeldAttempts::kSpare, milliseconds(2000)));
  EXPECT_TRUE(HasEnded(pid));
  waitpid(pid, nullptr, 0);
}

TEST_F(LeftoversTest, AProcessThatGotTheNumberLaterIsLeftAlone) {
  const pid_t stranger = Stranger();
  Hold();
  Record(stranger, boot_, ReadProcStat(stranger)->start_time + 1);
  EXPECT_TRUE(End(HeldAttempts::kEnd, milliseconds(100)));
  EXPECT_FALSE(HasEnded(stranger));
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
}

TEST_F(LeftoversTest, ARecordOfAnotherBootIsLeftAlone) {
  const pid_t stranger = Stranger();
  Hold();
  Record(stranger, "another boot", ReadProcStat(stranger)->start_time);
  EXPECT_TRUE(End(HeldAttempts::kEnd, milliseconds(100)));
  EXPECT_FALSE(HasEnded(stranger));
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
}

TEST_F(LeftoversTest, TrainersOfAnotherStateFolderAreLeftAlone) {
  const ScratchFolder other;
  const pid_t pid = Launch("sleep 60");
  const auto folder = other.path() / "attempts" / "s1.1.c0@1";
  ASSERT_TRUE(MakeAttemptFolder(folder).ok());
  EXPECT_TRUE(
      EndLeftovers(other.path(), boot_, HeldAttempts::kEnd, milliseconds(100)));
  EXPECT_FALSE(HasEnded(pid));
  kill(-pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

}  // namespace
}  // namespace leadline::agent
