#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/spec/memory_forecast.h"
#include "session_fixture.h"
#include "tests/support/scratch_folder.h"
#include "worker/agent/attempt_message.h"
#include "worker/agent/nvml_prober.h"
#include "worker/agent/offer.h"

namespace leadline::agent {
namespace {

class AgentGpus : public SessionFixture {
 protected:
  void SetUp() override {
    setenv("LEADLINE_FAKE_STRANGER", stranger().c_str(), 1);
  }
  void TearDown() override {
    unsetenv("LEADLINE_FAKE_NVML");
    unsetenv("LEADLINE_FAKE_STRANGER");
  }

  /// A machine of four GPUs and one CPU slot.
  static AgentOptions FourGpus() {
    setenv("LEADLINE_FAKE_NVML", "4", 1);
    NvmlProber prober(
        (test::BuildDir() / "tests" / "libfake_nvml.so").string());
    OfferWishes wishes;
    wishes.slots = 1;
    AgentOptions options;
    options.identity.devices = MakeOffer(wishes, prober)->devices;
    options.nvml = (test::BuildDir() / "tests" / "libfake_nvml.so").string();
    return options;
  }

  static spec::MemoryForecast Forecast(const v1::CoordinatorMessage& order) {
    const spec::TrainerConfig config = *ConfigFrom(order.start());
    const spec::Resolution whole = spec::Resolve(config.settings.values());
    EXPECT_TRUE(whole.errors.empty());
    return spec::ForecastMemory(whole.settings, config.dataset.vocabulary,
                                std::ssize(config.seeds));
  }

  /// From now on somebody else leaves so much of the third GPU.
  void LeaveFree(int64_t bytes) {
    std::ofstream(stranger() + ".new") << 2 << ' ' << bytes;
    std::filesystem::rename(stranger() + ".new", stranger());
  }
  std::string stranger() const { return folder_.path() / "stranger"; }

  ScratchFolder folder_;
};

TEST_F(AgentGpus, FourAttemptsAtOnceSeeOneGpuEachAndItsFirst) {
  RunningAgent agent(coordinator_.address(), FourGpus());
  Await(IsRegistered);
  const v1::Register said = coordinator_.heard().registers.front();
  ASSERT_EQ(said.devices_size(), 5);
  EXPECT_EQ(said.devices(0).memory_bytes(), int64_t{1} << 34);
  agent.Behave("wait");
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(coordinator_.Send(StartOrder(i + 1, said.devices(i).id())));
  }
  AwaitStarts(5);
  std::set<std::string> seen;
  for (const v1::AttemptStarted& started : coordinator_.heard().started) {
    const bool is_cpu = started.attempt().cohort() == "s1.5.c0";
    const int i = started.attempt().cohort()[3] - '1';
    const std::string uuid = is_cpu ? "" : said.devices(i).id();
    EXPECT_EQ(started.device(), is_cpu ? "cpu" : "cuda:0");
    EXPECT_EQ(DevicesShownTo(started.pid()), uuid);
    seen.insert(uuid);
  }
  EXPECT_EQ(seen.size(), 5U);
  EXPECT_TRUE(agent.Stop().ok());
}

TEST_F(AgentGpus, AttemptOfTwoGpusSeesBothInTheirOrder) {
  RunningAgent agent(coordinator_.address(), FourGpus());
  Await(IsRegistered);
  agent.Behave("wait");
  v1::CoordinatorMessage order = StartOrder(1, "GPU-00000003-fake");
  order.mutable_start()->add_devices("GPU-00000001-fake");
  ASSERT_TRUE(coordinator_.Send(order));
  AwaitStarts(1);
  EXPECT_EQ(DevicesShownTo(coordinator_.heard().started[0].pid()),
            "GPU-00000003-fake,GPU-00000001-fake");
  ASSERT_TRUE(coordinator_.Send(StartOrder(2, "GPU-00000001-fake")));
  Await([](const Heard& heard) { return !heard.refused.empty(); });
  EXPECT_EQ(coordinator_.heard().refused[0].kind(), "device");
}

TEST_F(AgentGpus, OneThatAStrangerUsesIsWaitedForWithTheReasonAndNoOther) {
  LeaveFree(1 << 20);
  RunningAgent agent(coordinator_.address(), FourGpus());
  Await(IsRegistered);
  agent.Behave("wait");
  ASSERT_TRUE(coordinator_.Send(StartOrder(1, "GPU-00000002-fake")));
  ASSERT_TRUE(coordinator_.Send(StartOrder(2, "GPU-00000003-fake")));
  AwaitStarts(1);
  EXPECT_EQ(coordinator_.heard().started[0].attempt().cohort(), "s1.2.c0");
  Await([](const Heard& heard) { return !heard.waiting.empty(); });
  for (const v1::AttemptWaiting& waiting : coordinator_.heard().waiting) {
    EXPECT_EQ(waiting.attempt().cohort(), "s1.1.c0");
    EXPECT_THAT(
        waiting.message(),
        testing::HasSubstr("GPU-00000002-fake has 1.00 MiB free of 16.0 GiB"));
  }
  std::filesystem::remove(stranger());
  AwaitStarts(2);
  EXPECT_TRUE(coordinator_.heard().refused.empty());
}

TEST_F(AgentGpus, WhatLiesOnADeviceMustBeFreeThereAndNoMore) {
  const v1::CoordinatorMessage order = StartOrder(1, "GPU-00000002-fake");
  const spec::MemoryForecast forecast = Forecast(order);
  ASSERT_GT(forecast.peak, forecast.device_peak);
  ASSERT_GT(forecast.device_peak, 0);
  LeaveFree(forecast.device_peak - 1);
  RunningAgent agent(coordinator_.address(), FourGpus());
  Await(IsRegistered);
  agent.Behave("wait");
  ASSERT_TRUE(coordinator_.Send(order));
  Await([](const Heard& heard) { return !heard.waiting.empty(); });
  EXPECT_TRUE(coordinator_.heard().started.empty());
  LeaveFree(forecast.device_peak);
  AwaitStarts(1);
}

TEST_F(AgentGpus, WhatNoEmptyGpuHoldsStartsAndIsLeftToRunOutOfMemory) {
  LeaveFree(1 << 20);
  v1::CoordinatorMessage order = StartOrder(1, "GPU-00000002-fake");
  auto& settings = *order.mutable_start()->mutable_settings();
  settings["depth"].set_integer(64);
  settings["d_model"].set_integer(4096);
  settings["checkpoint_every"].set_word("off");  // which no disk would hold
  ASSERT_GT(Forecast(order).device_peak, int64_t{1} << 34);
  RunningAgent agent(coordinator_.address(), FourGpus());
  Await(IsRegistered);
  agent.Behave("wait");
  ASSERT_TRUE(coordinator_.Send(order));
  AwaitStarts(1);
  EXPECT_TRUE(coordinator_.heard().waiting.empty());
}

TEST_F(AgentGpus, ReasonIsToldAgainToACoordinatorThatComesBack) {
  LeaveFree(1 << 20);
  RunningAgent agent(coordinator_.address(), FourGpus());
  Await(IsRegistered);
  ASSERT_TRUE(coordinator_.Send(StartOrder(1, "GPU-00000002-fake")));
  Await([](const Heard& heard) { return !heard.waiting.empty(); });
  coordinator_.DropStreams();
  Await([](const Heard& heard) { return heard.waiting.size() > 1; });
  EXPECT_TRUE(coordinator_.heard().started.empty());
}

}  // namespace
}  // namespace leadline::agent
