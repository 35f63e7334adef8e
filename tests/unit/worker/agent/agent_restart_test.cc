// The agent's program, killed and started again on its state folder.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "agent_program.h"
#include "fake_coordinator.h"
#include "running_agent.h"
#include "worker/agent/attempt_folder.h"
#include "worker/agent/hold_record.h"
#include "worker/agent/proc_stat.h"
#include "worker/dataset/text_reader.h"

namespace leadline::agent {
namespace {

using ::testing::HasSubstr;

constexpr char kAttempt[] = "s1.1.c0@1";
constexpr size_t kRecordsOfHalf = 21;  // start, 20 steps
constexpr size_t kRecordsOfAll = 47;   // again, 2 x 2, end

class AgentRestart : public ::testing::Test {
 protected:
  void Await(const std::function<bool(const Heard&)>& holds) {
    ASSERT_TRUE(coordinator_.WaitFor(holds));
  }
  void AwaitRegisters(size_t count) {
    Await([=](const Heard& heard) { return heard.registers.size() >= count; });
  }
  void AwaitEnds(size_t count) {
    Await([=](const Heard& heard) { return heard.ended.size() >= count; });
  }
  void AwaitRecords(size_t count) {
    Await([=](const Heard& heard) {
      const auto found = heard.records.find(kAttempt);
      return found != heard.records.end() && found->second.size() >= count;
    });
  }

  /// An attempt that trains and behaves so; its trainer.
  pid_t Train(const std::string& behaviour) {
    AwaitRegisters(1);  // its state folder is there
    agent_.Behave(behaviour);
    v1::CoordinatorMessage order = StartOrder(1, "cpu:2");
    const auto path = agent_.data() / "data" / "corpus";
    order.mutable_start()->mutable_dataset()->set_path(path.string());
    order.mutable_start()->mutable_dataset()->set_content_hash(
        dataset::HashFile(path, ""));
    EXPECT_TRUE(coordinator_.Send(order));
    EXPECT_TRUE(coordinator_.WaitFor(
        [](const Heard& heard) { return !heard.started.empty(); }));
    return static_cast<pid_t>(coordinator_.heard().started.at(0).pid());
  }

  static bool IsAlive(pid_t pid) {
    const auto stat = ReadProcStat(pid);
    return stat && stat->IsAlive();
  }

  static void AwaitEndOf(pid_t pid) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (IsAlive(pid)) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      std::this_thread::yield();
    }
  }

  FakeCoordinator coordinator_;
  AgentProgram agent_{coordinator_.address()};
};

TEST_F(AgentRestart, GoesOnWithTheLiveTrainerAndItsRecords) {
  const pid_t trainer = Train("go");
  AwaitRecords(kRecordsOfHalf);
  agent_.Kill();
  EXPECT_TRUE(IsAlive(trainer));
  agent_.Start();
  AwaitRegisters(2);
  const v1::Register said = coordinator_.heard().registers[1];
  ASSERT_EQ(said.attempts_size(), 1);
  EXPECT_EQ(said.attempts(0).attempt().cohort(), "s1.1.c0");
  EXPECT_EQ(said.attempts(0).attempt().number(), 1);
  ASSERT_EQ(said.attempts(0).devices_size(), 1);
  EXPECT_EQ(said.attempts(0).devices(0), "cpu:2");
  const v1::Register first = coordinator_.heard().registers[0];
  EXPECT_NE(said.instance(), first.instance());
  EXPECT_EQ(said.previous_instance(), first.instance());
  Await([](const Heard& heard) { return heard.started.size() >= 2; });
  EXPECT_EQ(coordinator_.heard().started[1].pid(), trainer);
  EXPECT_EQ(coordinator_.heard().started[1].device(), "cpu");
  agent_.Go();
  AwaitEnds(1);
  const Heard heard = coordinator_.heard();
  EXPECT_EQ(heard.records.at(kAttempt).size(), kRecordsOfAll);
  EXPECT_EQ(heard.repeated_records, 0);
  EXPECT_EQ(heard.gaps, 0);
  EXPECT_EQ(heard.ended[0].kind(), "");
  EXPECT_EQ(heard.ended[0].last_sequence(),
            static_cast<int64_t>(kRecordsOfAll));
}

TEST_F(AgentRestart, AStoppedTrainerOutlivesItsAgent) {
  const pid_t trainer = Train("go");
  AwaitRecords(kRecordsOfHalf);
  kill(trainer, SIGSTOP);
  agent_.Kill();
  agent_.Start();
  AwaitRegisters(2);
  kill(trainer, SIGCONT);
  agent_.Go();
  AwaitEnds(1);
  EXPECT_EQ(coordinator_.heard().ended[0].kind(), "");
  EXPECT_EQ(coordinator_.heard().records.at(kAttempt).size(), kRecordsOfAll);
}

TEST_F(AgentRestart, RenewsAndStopsAnAdoptedTrainer) {
  const pid_t trainer = Train("wait");
  agent_.Kill();
  const auto mark = agent_.Attempt(kAttempt) / "renewed";
  std::filesystem::remove(mark);
  agent_.Start();
  Await([&](const Heard& heard) {
    return heard.registers.size() == 2 && std::filesystem::exists(mark);
  });
  ASSERT_TRUE(coordinator_.Send(StopOrder(1)));
  AwaitEnds(1);
  EXPECT_FALSE(IsAlive(trainer));
  EXPECT_THAT(coordinator_.heard().ended[0].message(), HasSubstr("cancelled"));
}

TEST_F(AgentRestart, TellsOfATrainerThatFinishedWhileItWasAway) {
  const pid_t trainer = Train("go");
  AwaitRecords(kRecordsOfHalf);
  agent_.Kill();
  agent_.Go();
  AwaitEndOf(trainer);
  agent_.Start();
  AwaitEnds(1);
  const Heard heard = coordinator_.heard();
  EXPECT_EQ(heard.registers[1].attempts(0).devices_size(), 0);
  EXPECT_EQ(heard.records.at(kAttempt).size(), kRecordsOfAll);
  EXPECT_EQ(heard.repeated_records, 0);
  EXPECT_EQ(heard.ended[0].kind(), "");
}

TEST_F(AgentRestart, SaysThatItDoesNotKnowHowATrainerEnded) {
  const pid_t trainer = Train("go");
  AwaitRecords(kRecordsOfHalf);
  agent_.Kill();
  kill(-trainer, SIGKILL);
  AwaitEndOf(trainer);
  agent_.Start();
  AwaitEnds(1);
  const v1::AttemptEnded ended = coordinator_.heard().ended[0];
  EXPECT_EQ(ended.kind(), "crash");
  EXPECT_EQ(ended.exit_code(), -1);
  EXPECT_EQ(ended.signal(), 0);
  EXPECT_THAT(ended.message(), HasSubstr("exit status unknown"));
}

TEST_F(AgentRestart, AnEndThatIsOnDiskIsNotToldAgain) {
  Train("none");
  AwaitEnds(1);
  // The acknowledgement of the end was sent before it was heard here.
  const auto folder = agent_.Attempt(kAttempt);
  Await([&](const Heard&) { return IsReleased(folder); });
  agent_.Kill();
  agent_.Start();
  AwaitRegisters(2);
  EXPECT_EQ(coordinator_.heard().registers[1].attempts_size(), 0);
}

TEST_F(AgentRestart, AnEndThatIsNotOnDiskIsToldAgain) {
  coordinator_.Change(
      [](FakeHabits& habits) { habits.acknowledges_ends = false; });
  Train("none");
  AwaitEnds(1);
  agent_.Kill();
  agent_.Start();
  AwaitEnds(2);
  EXPECT_EQ(coordinator_.heard().ended[1].kind(), "");
}

TEST_F(AgentRestart, EndsWhatWasSupersededWhileItWasAway) {
  const pid_t trainer = Train("wait");
  agent_.Kill();
  coordinator_.Change([](FakeHabits& habits) {
    habits.superseded.push_back(StartOrder(1).start().attempt());
  });
  agent_.Start();
  AwaitEnds(1);
  EXPECT_FALSE(IsAlive(trainer));
}

TEST_F(AgentRestart, ATrainerThatWasNeverRecordedIsAdoptedByItsEnvironment) {
  const pid_t trainer = Train("go");
  agent_.Kill();
  std::filesystem::remove(agent_.Attempt(kAttempt) / "process.json");
  agent_.Start();
  Await([](const Heard& heard) { return heard.started.size() >= 2; });
  EXPECT_EQ(coordinator_.heard().started[1].pid(), trainer);
}

/// A process that leads a group of its own and does nothing.
pid_t ForkOne() {
  const pid_t one = fork();
  if (one == 0) {
    setpgid(0, 0);
    pause();
    _exit(0);
  }
  setpgid(one, one);
  return one;
}

void EndOne(pid_t one) {
  kill(one, SIGKILL);
  waitpid(one, nullptr, 0);
}

TEST_F(AgentRestart, AStrangerThatGotTheNumberIsLeftAlone) {
  const pid_t trainer = Train("go");
  agent_.Kill();
  kill(-trainer, SIGKILL);
  AwaitEndOf(trainer);
  const auto folder = agent_.Attempt(kAttempt);
  auto record = *ReadProcessRecord(folder);
  // Of another tick of the system's clock, as whoever gets a number again is.
  pid_t stranger = ForkOne();
  while (ReadProcStat(stranger)->start_time == record.start_time) {
    EndOne(stranger);
    stranger = ForkOne();
  }
  record.pid = record.group = stranger;
  ASSERT_TRUE(WriteProcessRecord(folder, record).ok());
  agent_.Start();
  AwaitEnds(1);
  EXPECT_EQ(waitpid(stranger, nullptr, WNOHANG), 0);
  EndOne(stranger);
}

TEST_F(AgentRestart, AnotherBootIsNoFaultOfTheAttempt) {
  const pid_t trainer = Train("go");
  agent_.Kill();
  kill(-trainer, SIGKILL);
  AwaitEndOf(trainer);
  const auto folder = agent_.Attempt(kAttempt);
  auto record = *ReadProcessRecord(folder);
  record.boot_id = "another";
  ASSERT_TRUE(WriteProcessRecord(folder, record).ok());
  agent_.Start();
  AwaitEnds(1);
  EXPECT_EQ(coordinator_.heard().ended[0].kind(), "agent_lost");
}

TEST_F(AgentRestart, WhatAnOrderlyEndBrokeOffIsNotHeldAnyMore) {
  const pid_t trainer = Train("wait");
  EXPECT_EQ(agent_.Terminate(), 0);
  EXPECT_FALSE(IsAlive(trainer));
  agent_.Start();
  AwaitRegisters(2);
  EXPECT_EQ(coordinator_.heard().registers[1].attempts_size(), 0);
  EXPECT_TRUE(coordinator_.heard().ended.empty());
}

TEST_F(AgentRestart, WhatWasEndedAsALeftoverIsNoFailure) {
  const pid_t trainer = Train("go");
  agent_.Kill();
  EXPECT_EQ(agent_.Run({"--end-leftovers"}), 0);
  EXPECT_FALSE(IsAlive(trainer));
  agent_.Start();
  AwaitRegisters(2);
  EXPECT_EQ(coordinator_.heard().registers[1].attempts_size(), 0);
}

}  // namespace
}  // namespace leadline::agent
