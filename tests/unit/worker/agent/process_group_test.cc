#include "worker/agent/process_group.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/scratch_folder.h"
#include "worker/agent/trainer_launcher.h"

namespace leadline::agent {
namespace {

/// A shell in the place of a trainer: config.json is its script.
class ProcessGroupTest : public ::testing::Test {
 protected:
  pid_t Launch(const std::string& script) {
    std::ofstream(folder_.path() / "config.json") << script;
    const auto pid = LaunchTrainer({"/bin/sh", folder_.path(), 3});
    EXPECT_TRUE(pid.ok()) << pid.status();
    return pid.value_or(-1);
  }

  bool EndsSoon(ProcessGroup& group) {
    return Soon([&] { return group.IsGone(); });
  }

  template <typename Holds>
  bool Soon(Holds holds) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  std::string Read(const std::string& file) {
    std::ifstream in(folder_.path() / file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  ScratchFolder folder_;
};

TEST_F(ProcessGroupTest, TellsHowItsLeaderExited) {
  ProcessGroup group(Launch("exit 7"));
  ASSERT_TRUE(EndsSoon(group));
  EXPECT_EQ(group.status()->code, 7);
  EXPECT_EQ(group.status()->signal, 0);
}

TEST_F(ProcessGroupTest, TellsWhichSignalEndedItsLeader) {
  ProcessGroup group(Launch("kill -9 $$"));
  ASSERT_TRUE(EndsSoon(group));
  EXPECT_EQ(group.status()->code, -1);
  EXPECT_EQ(group.status()->signal, SIGKILL);
}

TEST_F(ProcessGroupTest, IsNotGoneWhileAChildOfADeadLeaderLives) {
  ProcessGroup group(
      Launch("trap '' TERM; (while :; do sleep 60; done) & exit 0"));
  ASSERT_TRUE(Soon([&] { return !group.IsGone() && group.status(); }));
  group.Signal(SIGTERM);
  EXPECT_FALSE(group.IsGone());
  group.Signal(SIGKILL);
  EXPECT_TRUE(EndsSoon(group));
  EXPECT_EQ(group.status()->code, 0);
}

TEST_F(ProcessGroupTest, EndsGrandchildrenAndNothingBesides) {
  const pid_t bystander = fork();
  if (bystander == 0) {
    pause();
    _exit(0);
  }
  ProcessGroup group(
      Launch("trap '' TERM; sh -c 'sh -c \"echo up; sleep 60\" & sleep 60' & "
             "sleep 60"));
  ASSERT_TRUE(Soon([&] { return Read("stdout.log") == "up\n"; }));
  EXPECT_GE(LivingMembers(group.leader()).size(), 3U);
  group.Signal(SIGKILL);
  EXPECT_TRUE(EndsSoon(group));
  EXPECT_EQ(waitpid(bystander, nullptr, WNOHANG), 0);
  kill(bystander, SIGKILL);
  waitpid(bystander, nullptr, 0);
}

TEST_F(ProcessGroupTest, WhatLeftTheGroupIsFoundByItsMarkAndEnded) {
  ProcessGroup group(
      Launch("setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 60; "
             "done' & wait_for_it() { while [ ! -s stdout.log ]; do :; done; };"
             " wait_for_it; exit 0"),
      {AttemptVariable(folder_.path()), nullptr});
  ASSERT_TRUE(Soon([&] { return !group.IsGone() && group.status(); }));
  const pid_t left = std::stoi(Read("stdout.log"));
  EXPECT_NE(ReadProcStat(left)->group, group.leader());
  group.Signal(SIGTERM);
  EXPECT_FALSE(group.IsGone());
  EXPECT_TRUE(Soon([&] {
    group.Signal(SIGKILL);
    return group.IsGone();
  }));
  const auto now = ReadProcStat(left);
  EXPECT_FALSE(now && now->IsAlive());
}

TEST_F(ProcessGroupTest, AnAdoptedOneEndsAndNobodyKnowsHow) {
  const pid_t pid = Launch("trap '' TERM; sleep 60 & while :; do wait; done");
  ProcessGroup group = ProcessGroup::Adopt(pid, ReadProcStat(pid)->start_time,
                                           {AttemptVariable(folder_.path())});
  EXPECT_FALSE(group.IsGone());
  EXPECT_FALSE(group.status());
  // An adopted group may fork while it is listed.
  EXPECT_TRUE(Soon([&] {
    group.Signal(SIGKILL);
    return group.IsGone();
  }));
  EXPECT_FALSE(group.status()->IsKnown());
  waitpid(pid, nullptr, 0);
}

TEST_F(ProcessGroupTest, AStrangerWithTheNumberOfAnAdoptedOneIsLeftAlone) {
  const pid_t stranger = fork();
  if (stranger == 0) {
    setpgid(0, 0);
    pause();
    _exit(0);
  }
  setpgid(stranger, stranger);
  ProcessGroup group =
      ProcessGroup::Adopt(stranger, ReadProcStat(stranger)->start_time + 1,
                          {AttemptVariable(folder_.path())});
  EXPECT_TRUE(group.IsGone());
  group.Signal(SIGKILL);
  EXPECT_EQ(waitpid(stranger, nullptr, WNOHANG), 0);
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
}

TEST_F(ProcessGroupTest, AReapedGroupIsNotSignalled) {
  ProcessGroup group(Launch("exit 0"));
  ASSERT_TRUE(EndsSoon(group));
  EXPECT_EQ(waitpid(group.leader(), nullptr, WNOHANG), -1);
  group.Signal(SIGKILL);
  EXPECT_TRUE(group.IsGone());
}

TEST_F(ProcessGroupTest, ATrainerStartsClean) {
  const int leaked = dup(1);  // without close-on-exec
  ProcessGroup group(
      Launch("ls /proc/self/fd | wc -l; echo $OMP_NUM_THREADS; pwd; cat; "
             "grep SigBlk /proc/self/status; echo $LEADLINE_ATTEMPT_FOLDER"));
  ASSERT_TRUE(EndsSoon(group));
  close(leaked);
  const std::string folder = folder_.path().string();
  // Three standard ones, and the one that ls reads with.
  EXPECT_EQ(
      Read("stdout.log"),
      "4\n3\n" + folder + "\nSigBlk:\t0000000000000000\n" + folder + "\n");
}

TEST_F(ProcessGroupTest, AProgramThatIsNoneIsAnError) {
  EXPECT_FALSE(LaunchTrainer({"/nonexistent", folder_.path(), 1}).ok());
  const ScratchFolder other;
  EXPECT_FALSE(LaunchTrainer({"/etc/passwd", other.path(), 1}).ok());
}

}  // namespace
}  // namespace leadline::agent
