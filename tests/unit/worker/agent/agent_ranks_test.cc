// Several ranks of one attempt: trainers of their own that live and end
// together.

#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "agent_program.h"
#include "session_fixture.h"
#include "worker/agent/nvml_prober.h"
#include "worker/agent/offer.h"
#include "worker/agent/rank_address.h"
#include "worker/dataset/text_reader.h"

namespace leadline::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

/// Ranks from `first` on, one a device.
v1::CoordinatorMessage RanksOrder(int64_t first,
                                  const std::vector<std::string>& devices,
                                  int64_t world) {
  v1::CoordinatorMessage message = StartOrder(1, devices.front());
  v1::StartAttempt& order = *message.mutable_start();
  for (size_t k = 1; k < devices.size(); ++k) order.add_devices(devices[k]);
  order.set_first_rank(first);
  order.set_ranks(static_cast<int64_t>(devices.size()));
  order.set_world_size(world);
  order.set_secret(std::string(64, 'b'));
  return message;
}

v1::CoordinatorMessage Rendezvous(const std::vector<std::string>& peers) {
  v1::CoordinatorMessage message;
  v1::Rendezvous& order = *message.mutable_rendezvous();
  order.mutable_attempt()->set_cohort("s1.1.c0");
  order.mutable_attempt()->set_number(1);
  for (const std::string& peer : peers) order.add_peers(peer);
  return message;
}

bool HasAddresses(const Heard& heard, int count) {
  if (heard.started.empty()) return false;
  int known = 0;
  for (const v1::StartedRank& rank : heard.started.back().ranks()) {
    known += rank.address().empty() ? 0 : 1;
  }
  return known == count;
}

std::string Line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

nlohmann::json ConfigIn(const std::filesystem::path& folder) {
  std::ifstream file(folder / "config.json");
  return nlohmann::json::parse(file);
}

void Behave(const std::filesystem::path& state, int rank,
            const std::string& word) {
  std::ofstream(state / ("behaviour.rank-" + std::to_string(rank))) << word;
}

class AgentRanks : public SessionFixture {
 protected:
  /// Two ranks, all of their world, that know where both listen.
  void Meet(const std::filesystem::path&) {
    Await(IsRegistered);
    ASSERT_TRUE(coordinator_.Send(RanksOrder(0, {"cpu:0", "cpu:1"}, 2)));
    Await([](const Heard& heard) { return HasAddresses(heard, 2); });
    ASSERT_TRUE(
        coordinator_.Send(Rendezvous({"127.0.0.1:7000", "127.0.0.1:7001"})));
  }
};

TEST_F(AgentRanks, EachHasAFolderAProcessAndTheAddressesOfAll) {
  RunningAgent agent(coordinator_.address());
  Meet(agent.state());
  AwaitEnds(1);
  const Heard heard = coordinator_.heard();
  EXPECT_EQ(heard.ended[0].kind(), "") << heard.ended[0].message();
  EXPECT_EQ(heard.ended[0].exit_code(), 0);
  const v1::AttemptStarted& started = heard.started.back();
  ASSERT_EQ(started.ranks_size(), 2);
  EXPECT_EQ(started.ranks(1).rank(), 1);
  EXPECT_EQ(started.ranks(1).address(), "127.0.0.1:7001");
  EXPECT_EQ(started.ranks(0).pid(), started.pid());
  EXPECT_NE(started.ranks(0).pid(), started.ranks(1).pid());
  EXPECT_EQ(CountRecords(heard), 6U) << "of the first rank alone";
  const auto folder = agent.state() / "attempts" / "s1.1.c0@1";
  for (const auto& own : {folder, folder / "rank-1"}) {
    EXPECT_EQ(Line(own / "peers"), R"(["127.0.0.1:7000","127.0.0.1:7001"])");
    const auto config = ConfigIn(own);
    EXPECT_EQ(config["world"]["size"], 2);
    EXPECT_EQ(config["world"]["rank"], own == folder ? 0 : 1);
    EXPECT_EQ(config["world"]["listen"], "127.0.0.1");
    EXPECT_EQ(config["world"]["secret"], std::string(64, 'b'));
    EXPECT_EQ(config["folder"], own.string());
  }
}

TEST_F(AgentRanks, EachSeesItsOwnDeviceAlone) {
  setenv("LEADLINE_FAKE_NVML", "2", 1);
  NvmlProber prober((test::BuildDir() / "tests" / "libfake_nvml.so").string());
  AgentOptions options;
  options.identity.devices = MakeOffer({}, prober)->devices;
  unsetenv("LEADLINE_FAKE_NVML");
  RunningAgent agent(coordinator_.address(), options);
  Await(IsRegistered);
  ASSERT_TRUE(coordinator_.Send(RanksOrder(
      0, {options.identity.devices[1].id, options.identity.devices[0].id}, 2)));
  AwaitStarts(1);
  const v1::AttemptStarted started = coordinator_.heard().started[0];
  for (int k : {0, 1}) {
    EXPECT_EQ(DevicesShownTo(started.ranks(k).pid()),
              options.identity.devices[1 - k].id);
  }
}

TEST_F(AgentRanks, APartStartsOnceTheOthersAreReadyAndTellsNoRecords) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  ASSERT_TRUE(coordinator_.Send(RanksOrder(1, {"cpu:3"}, 2)));
  Await([](const Heard& heard) {
    return !heard.waiting.empty() && heard.waiting.back().ready();
  });
  coordinator_.DropStreams();
  Await([](const Heard& heard) {
    return heard.waiting.size() >= 2 && heard.waiting.back().ready();
  });
  EXPECT_THAT(coordinator_.heard().started, IsEmpty());
  ASSERT_TRUE(coordinator_.Send(Rendezvous({})));
  Await([](const Heard& heard) { return HasAddresses(heard, 1); });
  ASSERT_TRUE(coordinator_.Send(Rendezvous({"10.0.0.1:1", "10.0.0.2:2"})));
  AwaitEnds(1);
  const Heard heard = coordinator_.heard();
  EXPECT_EQ(heard.ended[0].kind(), "");
  EXPECT_EQ(heard.ended[0].last_sequence(), 0);
  EXPECT_EQ(CountRecords(heard), 0U);
  EXPECT_EQ(Line(agent.state() / "attempts" / "s1.1.c0@1" / "peers"),
            R"(["10.0.0.1:1","10.0.0.2:2"])");
}

TEST_F(AgentRanks, OneThatCrashesTakesTheOthersAlong) {
  RunningAgent agent(coordinator_.address());
  Behave(agent.state(), 0, "wait");
  Behave(agent.state(), 1, "crash");
  Meet(agent.state());
  AwaitEnds(1);
  const Heard heard = coordinator_.heard();
  EXPECT_EQ(heard.ended[0].kind(), "crash");
  EXPECT_THAT(heard.ended[0].message(), StartsWith("rank 1: "));
  EXPECT_EQ(heard.ended[0].signal(), SIGSEGV);
  for (const v1::StartedRank& rank : heard.started.back().ranks()) {
    EXPECT_FALSE(IsAlive(rank.pid()));
  }
}

TEST_F(AgentRanks, WhatFollowedFromAnotherRankDoesNotHideTheCause) {
  RunningAgent agent(coordinator_.address());
  Behave(agent.state(), 0, "nccl");
  Behave(agent.state(), 1, "crash");
  Meet(agent.state());
  AwaitEnds(1);
  EXPECT_EQ(coordinator_.heard().ended[0].kind(), "crash");
}

TEST_F(AgentRanks, AStopReachesAllOfThem) {
  RunningAgent agent(coordinator_.address());
  Behave(agent.state(), 0, "wait");
  Behave(agent.state(), 1, "wait");
  Meet(agent.state());
  ASSERT_TRUE(coordinator_.Send(StopOrder(1)));
  AwaitEnds(1);
  EXPECT_EQ(coordinator_.heard().ended[0].kind(), "");
  EXPECT_THAT(coordinator_.heard().ended[0].message(), HasSubstr("cancelled"));
}

TEST_F(AgentRanks, LogsAreReadByRank) {
  RunningAgent agent(coordinator_.address());
  Meet(agent.state());
  AwaitEnds(1);
  for (const int64_t rank : {0, 1, 2}) {
    v1::CoordinatorMessage message;
    v1::ReadLogOrder& order = *message.mutable_read_log();
    order.mutable_attempt()->set_cohort("s1.1.c0");
    order.mutable_attempt()->set_number(1);
    order.set_stream("stderr");
    order.set_rank(rank);
    ASSERT_TRUE(coordinator_.Send(message));
  }
  Await([](const Heard& heard) { return heard.logs.size() == 3; });
  const Heard heard = coordinator_.heard();
  EXPECT_EQ(heard.logs[0].data(), "rank 0 speaks\n");
  EXPECT_EQ(heard.logs[1].data(), "rank 1 speaks\n");
  EXPECT_THAT(heard.logs[2].error(), HasSubstr("did not run here"));
}

TEST_F(AgentRanks, OrdersThatDoNotFitAreRefused) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  ASSERT_TRUE(coordinator_.Send(RanksOrder(1, {"cpu:0", "cpu:1"}, 2)));
  v1::CoordinatorMessage without_secret = RanksOrder(0, {"cpu:0"}, 2);
  without_secret.mutable_start()->clear_secret();
  ASSERT_TRUE(coordinator_.Send(without_secret));
  Await([](const Heard& heard) { return heard.refused.size() == 2; });
  for (const v1::AttemptRefused& refused : coordinator_.heard().refused) {
    EXPECT_EQ(refused.kind(), "config");
  }
}

TEST(AgentRanksRestart, ALaterAgentGoesOnWithAllOfThem) {
  FakeCoordinator coordinator;
  AgentProgram agent(coordinator.address());
  ASSERT_TRUE(coordinator.WaitFor(IsRegistered));
  Behave(agent.state(), 0, "wait");
  Behave(agent.state(), 1, "wait");
  v1::CoordinatorMessage order = RanksOrder(0, {"cpu:0", "cpu:1"}, 2);
  const auto path = agent.data() / "data" / "corpus";
  order.mutable_start()->mutable_dataset()->set_path(path.string());
  order.mutable_start()->mutable_dataset()->set_content_hash(
      dataset::HashFile(path, ""));
  ASSERT_TRUE(coordinator.Send(order));
  ASSERT_TRUE(coordinator.WaitFor(
      [](const Heard& heard) { return HasAddresses(heard, 2); }));
  const v1::AttemptStarted before = coordinator.heard().started.back();
  agent.Kill();
  agent.Start();
  ASSERT_TRUE(coordinator.WaitFor([](const Heard& heard) {
    return heard.registers.size() == 2 && HasAddresses(heard, 2);
  }));
  const Heard heard = coordinator.heard();
  EXPECT_THAT(heard.registers[1].attempts(), SizeIs(1));
  EXPECT_THAT(heard.registers[1].attempts(0).devices(),
              ElementsAre("cpu:0", "cpu:1"));
  for (const int k : {0, 1}) {
    EXPECT_EQ(heard.started.back().ranks(k).pid(), before.ranks(k).pid());
    EXPECT_TRUE(IsAlive(before.ranks(k).pid()));
  }
  ASSERT_TRUE(
      coordinator.Send(Rendezvous({"127.0.0.1:7000", "127.0.0.1:7001"})));
  ASSERT_TRUE(coordinator.Send(StopOrder(1)));
  ASSERT_TRUE(
      coordinator.WaitFor([](const Heard& now) { return !now.ended.empty(); }));
  EXPECT_FALSE(IsAlive(before.ranks(0).pid()));
  EXPECT_FALSE(IsAlive(before.ranks(1).pid()));
}

TEST(RankAddress, IsThatByWhichTheCoordinatorIsReached) {
  EXPECT_EQ(AddressTowards("127.0.0.1:7000"), "127.0.0.1");
  EXPECT_EQ(AddressTowards("unix:/tmp/socket"), "127.0.0.1");
}

TEST(RankAddress, IsReadOnceItsLineIsWhole) {
  const ScratchFolder folder;
  EXPECT_FALSE(ReadAddress(folder.path()));
  const auto write = [&](const std::string& text) {
    std::ofstream(folder.path() / "address") << text;
  };
  write("10.0.0.1:70");
  EXPECT_FALSE(ReadAddress(folder.path()));
  write("10.0.0.1:7000\n");
  EXPECT_EQ(ReadAddress(folder.path()), "10.0.0.1:7000");
  for (const char* bad :
       {"\n", ":7\n", "a:\n", "a b:7\n", "a:7,b:8\n", "a\":7\n", "noport\n"}) {
    write(bad);
    EXPECT_FALSE(ReadAddress(folder.path())) << bad;
  }
}

}  // namespace
}  // namespace leadline::agent
