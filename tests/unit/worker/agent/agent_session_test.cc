#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "fake_coordinator.h"
#include "running_agent.h"
#include "worker/agent/attempt_folder.h"

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr size_t kRecordsOfARun = 26;  // start, 20 steps, 2 x 2, end

bool IsRegistered(const Heard& heard) {
  return !heard.registers.empty() && heard.heartbeats > 0;
}

bool IsAlive(int64_t pid) {
  const auto stat = ReadProcStat(static_cast<pid_t>(pid));
  return stat && stat->IsAlive();
}

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class AgentSession : public ::testing::Test {
 protected:
  void Await(const std::function<bool(const Heard&)>& holds) {
    ASSERT_TRUE(coordinator_.WaitFor(holds));
  }
  void AwaitEnds(size_t count) {
    Await([=](const Heard& heard) { return heard.ended.size() >= count; });
  }
  void AwaitStarts(size_t count) {
    Await([=](const Heard& heard) { return heard.started.size() >= count; });
  }

  FakeCoordinator coordinator_;
};

TEST_F(AgentSession, SaysWhoItIsAndWhatItHolds) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  const v1::Register said = coordinator_.heard().registers.front();
  EXPECT_EQ(said.node(), "node");
  EXPECT_EQ(said.instance(), "instance");
  EXPECT_FALSE(said.boot_id().empty());
  EXPECT_EQ(said.devices_size(), 4);
  EXPECT_EQ(said.devices(3).id(), "cpu:3");
  EXPECT_EQ(said.attempts_size(), 0);
  EXPECT_EQ(agent.Stop().exit_code, 0);
}

TEST_F(AgentSession, TrainsAndReportsEveryRecordThenTheEnd) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  AwaitEnds(1);
  const Heard heard = coordinator_.heard();
  ASSERT_EQ(heard.started.size(), 1U);
  EXPECT_EQ(heard.started[0].dataset_path(), "/data/corpus");
  EXPECT_EQ(heard.started[0].device(), "cpu");
  EXPECT_EQ(heard.records.at("s1.1.c0@1").size(), kRecordsOfARun);
  EXPECT_TRUE(heard.records.at("s1.1.c0@1").back().has_end());
  EXPECT_EQ(heard.ended[0].last_sequence(),
            static_cast<int64_t>(kRecordsOfARun));
  EXPECT_EQ(heard.ended[0].kind(), "");
  EXPECT_EQ(heard.ended[0].exit_code(), 0);
  const auto folder = agent.state() / "attempts" / "s1.1.c0@1";
  const std::string config = ReadText(folder / "config.json");
  EXPECT_THAT(config, HasSubstr(R"("path":"/data/corpus")"));
  EXPECT_THAT(config, HasSubstr(R"("seeds":[0,1])"));
  EXPECT_THAT(config, HasSubstr(folder.string()));
  EXPECT_TRUE(ReadProcessRecord(folder));
}

TEST_F(AgentSession, AskedTwiceStartsOnce) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  agent.Behave("wait");
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  AwaitStarts(1);
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  AwaitStarts(2);
  const Heard heard = coordinator_.heard();
  EXPECT_EQ(heard.started[0].pid(), heard.started[1].pid());
  EXPECT_TRUE(heard.refused.empty());
}

TEST_F(AgentSession, FetchOfDataHoldsUpNothingElse) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  v1::CoordinatorMessage order = StartOrder(1);
  order.mutable_start()->mutable_dataset()->set_name("text8");
  ASSERT_TRUE(coordinator_.Send(order));
  Await([](const Heard& heard) { return !heard.waiting.empty(); });
  EXPECT_EQ(coordinator_.heard().waiting[0].attempt().cohort(), "s1.1.c0");
  EXPECT_EQ(coordinator_.heard().waiting[0].message(),
            "fetching text8.zip: 12 of 32 MB");
  const int64_t beats = coordinator_.heard().heartbeats;
  ASSERT_TRUE(coordinator_.Send(StartOrder(2, "cpu:1")));
  AwaitEnds(1);
  Await([=](const Heard& heard) { return heard.heartbeats > beats + 3; });
  EXPECT_EQ(coordinator_.heard().ended[0].attempt().cohort(), "s1.2.c0");
  EXPECT_EQ(agent.Stop().exit_code, 0);
}

TEST_F(AgentSession, StopOrderEndsTheFetchOfData) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  for (const int64_t cohort : {1, 2}) {
    v1::CoordinatorMessage order =
        StartOrder(cohort, "cpu:" + std::to_string(cohort));
    order.mutable_start()->mutable_dataset()->set_name("text8");
    ASSERT_TRUE(coordinator_.Send(order));
  }
  Await([](const Heard& heard) { return heard.waiting.size() == 1; });
  ASSERT_TRUE(coordinator_.Send(StopOrder(1)));
  AwaitEnds(1);
  // The other waited for the same data, and goes on with it.
  Await([](const Heard& heard) { return heard.waiting.size() == 2; });
  EXPECT_EQ(coordinator_.heard().waiting[1].attempt().cohort(), "s1.2.c0");
  EXPECT_TRUE(coordinator_.heard().started.empty());
}

TEST_F(AgentSession, RefusesWhatItCannotDoWithItsKind) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  const auto refusal = [&](const v1::CoordinatorMessage& order) {
    const size_t before = coordinator_.heard().refused.size();
    EXPECT_TRUE(coordinator_.Send(order));
    EXPECT_TRUE(coordinator_.WaitFor(
        [=](const Heard& heard) { return heard.refused.size() > before; }));
    return coordinator_.heard().refused.back().kind();
  };
  auto order = StartOrder(1);
  order.mutable_start()->mutable_dataset()->set_name("missing");
  EXPECT_EQ(refusal(order), "data");
  order.mutable_start()->mutable_dataset()->set_name("full_disk");
  EXPECT_EQ(refusal(order), "disk");
  EXPECT_EQ(refusal(StartOrder(2, "cpu:9")), "device");
  order = StartOrder(3);
  order.mutable_start()->mutable_attempt()->set_cohort("../../../tmp/x");
  EXPECT_EQ(refusal(order), "config");
  order = StartOrder(4);
  order.mutable_start()->clear_seeds();
  EXPECT_EQ(refusal(order), "config");
  agent.Behave("wait");
  ASSERT_TRUE(coordinator_.Send(StartOrder(5, "cpu:1")));
  AwaitStarts(1);
  EXPECT_EQ(refusal(StartOrder(6, "cpu:1")), "device");
}

TEST(AgentAlone, RefusesWithoutATrainerToStart) {
  FakeCoordinator coordinator;
  AgentOptions options;
  options.trainer = "/nonexistent/leadline-trainer";
  RunningAgent agent(coordinator.address(), options);
  ASSERT_TRUE(coordinator.WaitFor(IsRegistered));
  ASSERT_TRUE(coordinator.Send(StartOrder(1)));
  ASSERT_TRUE(coordinator.WaitFor(
      [](const Heard& heard) { return !heard.refused.empty(); }));
  EXPECT_THAT(coordinator.heard().refused[0].message(),
              HasSubstr("cannot start the trainer"));
}

TEST_F(AgentSession, RenewsATrainerOnlyWhenTheCoordinatorDid) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  agent.Behave("wait");
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  AwaitStarts(1);
  const auto mark = agent.state() / "attempts" / "s1.1.c0@1" / "renewed";
  Await([&](const Heard&) { return std::filesystem::exists(mark); });
  coordinator_.Change([](FakeHabits& habits) { habits.renews = false; });
  const auto some_heartbeats = [&] {
    const int64_t before = coordinator_.heard().heartbeats;
    Await([=](const Heard& heard) { return heard.heartbeats > before + 10; });
  };
  some_heartbeats();  // what was under way has arrived
  std::filesystem::remove(mark);
  some_heartbeats();
  EXPECT_FALSE(std::filesystem::exists(mark));
}

TEST_F(AgentSession, StartsATrainerOnlyOnceItsAttemptWasRenewedAfterTheOrder) {
  coordinator_.Change([](FakeHabits& habits) { habits.renews = false; });
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  const int64_t before = coordinator_.heard().heartbeats;
  Await([=](const Heard& heard) { return heard.heartbeats > before + 10; });
  EXPECT_TRUE(coordinator_.heard().started.empty());
  coordinator_.Change([](FakeHabits& habits) { habits.renews = true; });
  AwaitStarts(1);
}

TEST_F(AgentSession, StopsByOrderAndSaysSo) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  agent.Behave("wait");
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  AwaitStarts(1);
  ASSERT_TRUE(coordinator_.Send(StopOrder(1, 2)));  // of another attempt
  ASSERT_TRUE(coordinator_.Send(StopOrder(1)));
  AwaitEnds(1);
  const v1::AttemptEnded ended = coordinator_.heard().ended[0];
  EXPECT_EQ(ended.kind(), "");
  EXPECT_EQ(ended.exit_code(), 0);
  EXPECT_THAT(ended.message(), HasSubstr("cancelled"));
}

TEST(AgentAlone, KillsTheGroupOfATrainerThatIgnoresEveryOrder) {
  FakeCoordinator coordinator;
  AgentOptions options;
  options.policy.stop = {milliseconds(100), milliseconds(100)};
  RunningAgent agent(coordinator.address(), options);
  ASSERT_TRUE(coordinator.WaitFor(IsRegistered));
  agent.Behave("stubborn");
  ASSERT_TRUE(coordinator.Send(StartOrder(1)));
  // It ignores signals once it has spoken.
  ASSERT_TRUE(coordinator.WaitFor([](const Heard& heard) {
    const auto found = heard.records.find("s1.1.c0@1");
    return found != heard.records.end() && found->second.size() == 21;
  }));
  const auto pid = static_cast<pid_t>(coordinator.heard().started[0].pid());
  ASSERT_TRUE(coordinator.Send(StopOrder(1)));
  ASSERT_TRUE(coordinator.WaitFor(
      [](const Heard& heard) { return !heard.ended.empty(); }));
  EXPECT_EQ(coordinator.heard().ended[0].signal(), SIGKILL);
  EXPECT_TRUE(LivingMembers(pid).empty());
}

TEST_F(AgentSession, ChildrenThatATrainerLeavesAreEndedBeforeItsEndIsTold) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  agent.Behave("leave_child");
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  AwaitEnds(1);
  const Heard heard = coordinator_.heard();
  EXPECT_TRUE(
      LivingMembers(static_cast<pid_t>(heard.started[0].pid())).empty());
  EXPECT_EQ(heard.ended[0].kind(), "");
}

struct Misbehaviour {
  std::string word;
  std::string kind;
  int exit_code;
  int signal;
  std::string message;
};

class AgentMisbehaviour : public AgentSession,
                          public ::testing::WithParamInterface<Misbehaviour> {};

TEST_P(AgentMisbehaviour, EndsWithItsKind) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  agent.Behave(GetParam().word);
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  AwaitEnds(1);
  const Heard heard = coordinator_.heard();
  EXPECT_EQ(heard.ended[0].kind(), GetParam().kind);
  EXPECT_EQ(heard.ended[0].exit_code(), GetParam().exit_code);
  EXPECT_EQ(heard.ended[0].signal(), GetParam().signal);
  EXPECT_THAT(heard.ended[0].message(), HasSubstr(GetParam().message));
  EXPECT_EQ(heard.gaps, 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, AgentMisbehaviour,
    ::testing::Values(Misbehaviour{"crash", "crash", -1, SIGSEGV, "signal 11"},
                      Misbehaviour{"fail", "disk", 1, 0, "no space left"},
                      Misbehaviour{"rubbish", "crash", 0, 0, "50 lines"},
                      Misbehaviour{"exit_at_start", "config", 2, 0,
                                   "does not like"},
                      Misbehaviour{"huge_line", "", 0, 0, ""}),
    [](const auto& info) { return info.param.word; });

TEST_F(AgentSession, ALineOfTenMegabytesCostsItsPlaceAndNothingElse) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  agent.Behave("huge_line");
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  AwaitEnds(1);
  const Heard heard = coordinator_.heard();
  const auto& records = heard.records.at("s1.1.c0@1");
  ASSERT_EQ(records.size(), kRecordsOfARun + 1);
  EXPECT_TRUE(records[21].has_unreadable());
  EXPECT_TRUE(records[22].has_result());
  EXPECT_LT(heard.largest_message, 1U << 20);
}

TEST_F(AgentSession, SendsAgainWhatWasNotAcknowledgedAfterABreak) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  coordinator_.Change([](FakeHabits& habits) {
    habits.acknowledges = habits.acknowledges_ends = false;
  });
  agent.Behave("many");
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  for (int breaks = 1; breaks <= 5; ++breaks) {
    const size_t before = coordinator_.heard().records["s1.1.c0@1"].size();
    Await([=](const Heard& heard) {
      const auto found = heard.records.find("s1.1.c0@1");
      return found != heard.records.end() && found->second.size() > before;
    });
    coordinator_.DropStreams();
    Await([=](const Heard& heard) {
      return heard.registers.size() == static_cast<size_t>(breaks) + 1;
    });
  }
  EXPECT_TRUE(coordinator_.heard().ended.empty());
  coordinator_.Change([](FakeHabits& habits) { habits.acknowledges = true; });
  coordinator_.DropStreams();
  AwaitEnds(1);
  // An end that was not acknowledged is told again, on the next stream.
  coordinator_.Change(
      [](FakeHabits& habits) { habits.acknowledges_ends = true; });
  coordinator_.DropStreams();
  AwaitEnds(2);
  const Heard heard = coordinator_.heard();
  EXPECT_EQ(heard.gaps, 0);
  EXPECT_EQ(heard.records.at("s1.1.c0@1").size(), kRecordsOfARun + 20'001);
  EXPECT_EQ(heard.ended[1].last_sequence(),
            static_cast<int64_t>(kRecordsOfARun + 20'001));
  coordinator_.DropStreams();
  const size_t streams = heard.registers.size();
  Await([=](const Heard& now) { return now.registers.size() > streams; });
  EXPECT_EQ(coordinator_.heard().registers.back().attempts_size(), 0);
}

TEST_F(AgentSession, TellsWhatItHoldsAfterABreak) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  agent.Behave("wait");
  ASSERT_TRUE(coordinator_.Send(StartOrder(1, "cpu:2")));
  AwaitStarts(1);
  coordinator_.DropStreams();
  Await([](const Heard& heard) { return heard.registers.size() == 2; });
  const v1::Register said = coordinator_.heard().registers[1];
  ASSERT_EQ(said.attempts_size(), 1);
  EXPECT_EQ(said.attempts(0).attempt().cohort(), "s1.1.c0");
  ASSERT_EQ(said.attempts(0).devices_size(), 1);
  EXPECT_EQ(said.attempts(0).devices(0), "cpu:2");
  EXPECT_EQ(said.instance(), coordinator_.heard().registers[0].instance());
  EXPECT_TRUE(IsAlive(coordinator_.heard().started[0].pid()));
  // A coordinator that ended before it was on disk hears it again.
  AwaitStarts(2);
  EXPECT_EQ(coordinator_.heard().started[1].dataset_path(), "/data/corpus");
}

TEST_F(AgentSession, EndsWhatWasSupersededMeanwhile) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  agent.Behave("wait");
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  AwaitStarts(1);
  coordinator_.Change([](FakeHabits& habits) {
    habits.superseded.push_back(StartOrder(1).start().attempt());
  });
  coordinator_.DropStreams();
  AwaitEnds(1);
  EXPECT_FALSE(IsAlive(coordinator_.heard().started[0].pid()));
}

TEST_F(AgentSession, FiftyOrdersInOneBreathAreKeptApart) {
  AgentOptions options;
  RunningAgent agent(coordinator_.address(), options);
  Await(IsRegistered);
  for (int cohort = 1; cohort <= 50; ++cohort) {
    const std::string device = "cpu:" + std::to_string(cohort % 4);
    ASSERT_TRUE(coordinator_.Send(StartOrder(cohort, device)));
    if (cohort % 4 == 0) {
      Await([=](const Heard& heard) {
        return heard.ended.size() + heard.refused.size() ==
               static_cast<size_t>(cohort);
      });
    }
  }
  AwaitEnds(50);
  const Heard heard = coordinator_.heard();
  for (const auto& [attempt, records] : heard.records) {
    EXPECT_EQ(records.size(), kRecordsOfARun) << attempt;
  }
}

TEST_F(AgentSession, ReadsLogsOfTrainers) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  agent.Behave("exit_at_start");
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  AwaitEnds(1);
  v1::CoordinatorMessage order;
  *order.mutable_read_log()->mutable_attempt() =
      StartOrder(1).start().attempt();
  order.mutable_read_log()->set_stream("stderr");
  ASSERT_TRUE(coordinator_.Send(order));
  Await([](const Heard& heard) { return !heard.logs.empty(); });
  EXPECT_THAT(coordinator_.heard().logs[0].data(), HasSubstr("does not like"));
}

TEST_F(AgentSession, LeavesNothingBehindWhenItIsStopped) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  agent.Behave("stubborn");
  ASSERT_TRUE(coordinator_.Send(StartOrder(1, "cpu:0")));
  ASSERT_TRUE(coordinator_.Send(StartOrder(2, "cpu:1")));
  AwaitStarts(2);
  const Heard before = coordinator_.heard();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(agent.Stop().exit_code, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  for (const auto& started : before.started) {
    EXPECT_TRUE(LivingMembers(static_cast<pid_t>(started.pid())).empty());
  }
  // An interruption is no outcome: nothing is said, and another agent may go
  // on.
  Await([](const Heard& heard) { return heard.streams_open == 0; });
  EXPECT_TRUE(coordinator_.heard().ended.empty());
}

TEST(AgentAlone, APrivateAgentEndsWithItsCoordinator) {
  auto coordinator = std::make_unique<FakeCoordinator>();
  AgentOptions options;
  options.policy.is_private = true;
  RunningAgent agent(coordinator->address(), options);
  ASSERT_TRUE(coordinator->WaitFor(IsRegistered));
  agent.Behave("wait");
  ASSERT_TRUE(coordinator->Send(StartOrder(1)));
  ASSERT_TRUE(coordinator->WaitFor(
      [](const Heard& heard) { return !heard.started.empty(); }));
  const int64_t pid = coordinator->heard().started[0].pid();
  coordinator.reset();
  EXPECT_EQ(agent.Join().exit_code, 0);
  EXPECT_FALSE(IsAlive(pid));
}

TEST(AgentAlone, APrivateAgentDoesNotWaitForEver) {
  AgentOptions options;
  options.policy.is_private = true;
  options.policy.patience_at_start = milliseconds(100);
  options.session.connect_timeout = milliseconds(100);
  RunningAgent agent("127.0.0.1:1", options);
  const AgentEnd end = agent.Join();
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(end.message, HasSubstr("127.0.0.1:1"));
}

TEST(AgentAlone, ASecondBearerOfANameIsRefusedInPlainWords) {
  FakeCoordinator coordinator;
  coordinator.Change([](FakeHabits& habits) { habits.refuses = true; });
  AgentOptions options;
  options.policy.patience_at_start = milliseconds(100);
  RunningAgent agent(coordinator.address(), options);
  const AgentEnd end = agent.Join();
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(end.message, HasSubstr("another agent of that name"));
}

TEST(AgentAlone, WaitsForACoordinatorThatComesLater) {
  const ScratchFolder folder;
  const std::string address = "unix:" + (folder.path() / "socket").string();
  RunningAgent agent(address);
  FakeCoordinator coordinator(address);
  EXPECT_TRUE(coordinator.WaitFor(IsRegistered));
}

TEST(AgentAlone, DialsASocketWhosePathIsLong) {
  const ScratchFolder folder;
  const auto deep = folder.path() / std::string(120, 'd');
  std::filesystem::create_directory(deep);
  const auto bound = folder.path() / "s";
  FakeCoordinator coordinator("unix:" + bound.string());
  std::filesystem::rename(bound, deep / "s");
  RunningAgent agent("unix:" + (deep / "s").string());
  EXPECT_TRUE(coordinator.WaitFor(IsRegistered));
}

}  // namespace
}  // namespace leadline::agent
