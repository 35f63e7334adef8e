#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "errors/error_code.h"
#include "session_fixture.h"
#include "worker/agent/process_group.h"

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class AgentStop : public SessionFixture {};

TEST_F(AgentStop, RenewsATrainerOnlyWhenTheCoordinatorDid) {
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

TEST_F(AgentStop, StartsATrainerOnlyOnceItsAttemptWasRenewedAfterTheOrder) {
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

TEST_F(AgentStop, StopsByOrderAndSaysSo) {
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

TEST_F(AgentStop, ChildrenThatATrainerLeavesAreEndedBeforeItsEndIsTold) {
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

TEST_F(AgentStop, LeavesNothingBehindWhenItIsStopped) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  agent.Behave("stubborn");
  ASSERT_TRUE(coordinator_.Send(StartOrder(1, "cpu:0")));
  ASSERT_TRUE(coordinator_.Send(StartOrder(2, "cpu:1")));
  AwaitStarts(2);
  const Heard before = coordinator_.heard();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(agent.Stop().ok());
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
  EXPECT_TRUE(agent.Join().ok());
  EXPECT_FALSE(IsAlive(pid));
}

TEST(AgentAlone, APrivateAgentDoesNotWaitForEver) {
  AgentOptions options;
  options.policy.is_private = true;
  options.policy.patience_at_start = milliseconds(100);
  options.session.connect_timeout = milliseconds(100);
  RunningAgent agent("127.0.0.1:1", options);
  const absl::Status end = agent.Join();
  EXPECT_EQ(ServiceExitCode(end), 1);
  EXPECT_THAT(std::string(end.message()), HasSubstr("127.0.0.1:1"));
}

TEST_F(AgentStop, AChildThatLeftTheGroupIsEndedBeforeItsEndIsTold) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  agent.Behave("leave_session");
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  AwaitEnds(1);
  const auto folder = agent.state() / "attempts" / "s1.1.c0@1";
  int64_t child = 0;
  std::ifstream(folder / "child") >> child;
  ASSERT_GT(child, 1);
  EXPECT_FALSE(IsAlive(child));
  EXPECT_EQ(coordinator_.heard().ended[0].kind(), "");
}

}  // namespace
}  // namespace leadline::agent
