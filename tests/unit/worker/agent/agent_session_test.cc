#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "errors/error_code.h"
#include "session_fixture.h"
#include "worker/agent/attempt_folder.h"

namespace leadline::agent {
namespace {

using ::testing::HasSubstr;

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class AgentSession : public SessionFixture {};

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
  EXPECT_TRUE(agent.Stop().ok());
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
  EXPECT_TRUE(agent.Stop().ok());
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
  order.mutable_start()->mutable_dataset()->set_name("broken");
  EXPECT_EQ(refusal(order), "crash");
  EXPECT_THAT(coordinator_.heard().refused.back().message(),
              HasSubstr("it broke"));
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

TEST_F(AgentSession, EndsWhereTheCoordinatorIsOfAnotherAgeAndSaysWhatToUpdate) {
  coordinator_.Change([](FakeHabits& habits) {
    habits.protocol = 9;
    habits.least_protocol = 8;
  });
  RunningAgent agent(coordinator_.address());
  const absl::Status end = agent.Join();
  EXPECT_EQ(ErrorOf(end), ErrorCode::kVersionMismatch);
  EXPECT_THAT(std::string(end.message()), HasSubstr("update leadline-agent"));
}

TEST_F(AgentSession, KeepsItsTrainersWhereACoordinatorIsUpdatedPastIt) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  agent.Behave("wait");
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  AwaitStarts(1);
  const int64_t pid = coordinator_.heard().started[0].pid();
  coordinator_.Change([](FakeHabits& habits) {
    habits.protocol = 9;
    habits.least_protocol = 8;
  });
  coordinator_.DropStreams();
  AwaitRegisters(3);
  EXPECT_TRUE(IsAlive(pid));
  EXPECT_TRUE(agent.Stop().ok());
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

TEST_F(AgentSession, SaysHowMuchItKeepsOfSweeps) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  AwaitEnds(1);
  v1::CoordinatorMessage order;
  order.mutable_weigh()->set_request(1);
  for (const char* sweep : {"s1", "s2", "../s1", "s1.1", ""}) {
    order.mutable_weigh()->add_sweeps(sweep);
  }
  ASSERT_TRUE(coordinator_.Send(order));
  order.mutable_weigh()->set_request(2);
  order.mutable_weigh()->clear_sweeps();
  ASSERT_TRUE(coordinator_.Send(order));
  Await([](const Heard& heard) { return heard.weighed.size() == 2; });
  const auto weighed = coordinator_.heard().weighed;
  EXPECT_EQ(weighed[0].request(), 1);
  EXPECT_EQ(weighed[0].attempts(), 1);
  EXPECT_GT(weighed[0].bytes(), 0);
  EXPECT_EQ(weighed[1].request(), 2);
  EXPECT_EQ(weighed[1].attempts() + weighed[1].bytes(), 0);
}

}  // namespace
}  // namespace leadline::agent
