#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "errors/error_code.h"
#include "session_fixture.h"

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class AgentDelivery : public SessionFixture {};

TEST_F(AgentDelivery, ALineOfTenMegabytesCostsItsPlaceAndNothingElse) {
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

TEST_F(AgentDelivery, SendsAgainWhatWasNotAcknowledgedAfterABreak) {
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

TEST_F(AgentDelivery, TellsWhatItHoldsAfterABreak) {
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

TEST_F(AgentDelivery, EndsWhatWasSupersededMeanwhile) {
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

TEST(AgentAlone, ASecondBearerOfANameIsRefusedInPlainWords) {
  FakeCoordinator coordinator;
  coordinator.Change([](FakeHabits& habits) { habits.refuses = true; });
  AgentOptions options;
  options.policy.patience_at_start = milliseconds(100);
  RunningAgent agent(coordinator.address(), options);
  const absl::Status end = agent.Join();
  EXPECT_EQ(ServiceExitCode(end), 1);
  EXPECT_EQ(ErrorOf(end), ErrorCode::kNameTaken);
  EXPECT_THAT(std::string(end.message()),
              HasSubstr("another agent of that name"));
}

TEST(AgentAlone, WhoseTokenIsNoneEndsWithoutWaiting) {
  FakeCoordinator coordinator;
  coordinator.Change([](FakeHabits& habits) { habits.bars = true; });
  AgentOptions options;
  options.policy.patience_at_start = std::chrono::hours(1);
  RunningAgent agent(coordinator.address(), options);
  const absl::Status end = agent.Join();
  EXPECT_EQ(ServiceExitCode(end), 5);
  EXPECT_THAT(std::string(end.message()), HasSubstr("no such token"));
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

TEST_F(AgentDelivery, ARecordThatCannotBeStoredIsLeftOutAndTold) {
  coordinator_.Change([](FakeHabits& habits) { habits.cannot_store = 7; });
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  ASSERT_TRUE(coordinator_.Send(StartOrder(1, "cpu:0")));
  AwaitEnds(1);
  const Heard heard = coordinator_.heard();
  ASSERT_EQ(CountRecords(heard), kRecordsOfARun);
  EXPECT_TRUE(heard.records.at("s1.1.c0@1")[6].has_unreadable());
  EXPECT_TRUE(heard.records.at("s1.1.c0@1")[7].has_step());
  EXPECT_EQ(heard.gaps, 0);
  EXPECT_EQ(heard.ended[0].kind(), "");
  EXPECT_THAT(heard.ended[0].message(), HasSubstr("1 of its records"));
  EXPECT_LT(heard.registers.size(), 10U);
}

int64_t ResidentBytes() {
  int64_t all = 0;
  int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST_F(AgentDelivery, ACoordinatorThatIsAwayCostsDelayAndNoMemory) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  agent.Behave("flood");
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  AwaitRecords(21);
  coordinator_.Change([](FakeHabits& habits) { habits.refuses = true; });
  coordinator_.DropStreams();
  Await([](const Heard& heard) { return heard.streams_open == 0; });
  const int64_t before = ResidentBytes();
  std::ofstream(agent.state() / "go") << "yes\n";
  const int64_t trainer = coordinator_.heard().started[0].pid();
  Await([&](const Heard&) { return !IsAlive(trainer); });
  EXPECT_LT(ResidentBytes() - before, 32 << 20);
  EXPECT_EQ(CountRecords(coordinator_.heard()), 21U);
  coordinator_.Change([](FakeHabits& habits) { habits.refuses = false; });
  AwaitEnds(1);
  const Heard heard = coordinator_.heard();
  EXPECT_EQ(CountRecords(heard), kRecordsOfARun + 100'001);
  EXPECT_EQ(heard.gaps, 0);
  EXPECT_EQ(heard.ended[0].kind(), "");
  EXPECT_LT(heard.largest_message, 1U << 20);
}

}  // namespace
}  // namespace leadline::agent
