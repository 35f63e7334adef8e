// Ranks whose tensors go by NCCL, which a stand-in moves: floats lie in what is
// the device's memory here.

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/cell_settings.h"
#include "tests/unit/worker/collective/nccl_world.h"
#include "worker/collective/nccl_communicator.h"
#include "worker/collective/tcp_communicator.h"
#include "worker/dataset/symbol_text.h"
#include "worker/trainer/event_writer.h"
#include "worker/trainer/rendezvous.h"
#include "worker/trainer/train_loop.h"

namespace leadline::trainer {
namespace {

using collective::Communicator;
using collective::Ring;
using collective::nccl::Fake;
using collective::nccl::FakeLibrary;
using collective::nccl::KindsOnAllRanks;
using nlohmann::json;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Make = std::function<std::unique_ptr<Communicator>(std::unique_ptr<Ring>,
                                                         int64_t rank)>;

class DeviceRanks : public ::testing::Test {
 protected:
  DeviceRanks() {
    Fake().Reset();
    std::string pattern = ::testing::TempDir() + "ranks_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~DeviceRanks() override { std::filesystem::remove_all(folder_); }

  spec::TrainerConfig Config(int64_t rank) const {
    spec::TrainerConfig config;
    config.settings = leadline::testing::CellSettings(
        "attnres", {{"batch_sequences", int64_t{4}},
                    {"steps", int64_t{6}},
                    {"eval_every", int64_t{3}},
                    {"eval_windows", int64_t{4}},
                    {"log_every", int64_t{1}}});
    config.seeds = {1, 2};
    config.world_size = 2;
    config.rank = rank;
    config.folder = (folder_ / std::to_string(rank)).string();
    std::filesystem::create_directories(*config.folder);
    return config;
  }

  // Returns the events of rank 0.
  std::vector<json> Train(const Make& make) const {
    auto rings = collective::LinkedRings(2);
    std::vector<uint16_t> symbols(2000);
    for (size_t i = 0; i < symbols.size(); ++i) symbols[i] = i * i % 7;
    const dataset::SymbolText text(symbols, {1400, 300, 300},
                                   {'a', 'b', 'c', 'd', 'e', 'f', 'g'}, false);
    const auto errors = KindsOnAllRanks(2, [&](int64_t rank) {
      const spec::TrainerConfig config = Config(rank);
      std::filesystem::remove(*config.folder + "/events.jsonl");
      EventWriter events = EventWriter::InFolder(*config.folder);
      RunControl control;
      const auto ranks = make(std::move(rings[rank]), rank);
      TrainLoop(config, text, *ranks, control, events).Run();
    });
    EXPECT_THAT(errors, Each(IsEmpty()));
    std::vector<json> events;
    std::ifstream file(folder_ / "0" / "events.jsonl");
    for (std::string line; std::getline(file, line);) {
      events.push_back(json::parse(line));
    }
    return events;
  }

  std::filesystem::path folder_;
};

collective::nccl::CliqueOptions Options(int64_t rank) {
  collective::nccl::CliqueOptions options;
  options.rank = rank;
  options.size = 2;
  options.look_period = std::chrono::milliseconds(5);
  options.farewell_limit = std::chrono::milliseconds(500);
  return options;
}

json Of(const std::vector<json>& events, const char* event, const char* key) {
  json values = json::array();
  for (const json& line : events) {
    if (line["event"] == event) values.push_back(line.at(key));
  }
  return values;
}

TEST_F(DeviceRanks, TrainAsThoseOverTcpToTheLastBit) {
  const auto over_tcp = Train([](std::unique_ptr<Ring> ring, int64_t rank) {
    return collective::MakeTcpCommunicator(std::move(ring), rank, 2);
  });
  const auto by_nccl = Train([](std::unique_ptr<Ring> ring, int64_t rank) {
    return collective::MakeNcclCommunicator(
        std::move(ring), std::make_shared<test::HostQueue>(), Options(rank),
        FakeLibrary(),
        [](const torch::Tensor& tensor) { return tensor.is_floating_point(); });
  });
  EXPECT_GT(Fake().Calls("ncclAllReduce"), 20);
  EXPECT_EQ(by_nccl.at(0).at("libraries").at("collective"), "nccl 2.28.9");
  // Of two ranks a sum has one order.
  EXPECT_THAT(Of(by_nccl, "step", "values"), SizeIs(6));
  EXPECT_EQ(Of(by_nccl, "step", "values"), Of(over_tcp, "step", "values"));
  EXPECT_THAT(Of(by_nccl, "result", "validation_loss"), SizeIs(2));
  EXPECT_EQ(Of(by_nccl, "result", "validation_loss"),
            Of(over_tcp, "result", "validation_loss"));
}

// As the agent and the coordinator do, it tells each where the others are.
std::vector<std::string> MeetByOrder(
    const std::function<spec::TrainerConfig(int64_t)>& config,
    const DeviceAccess& devices,
    const std::function<void(Communicator&)>& act) {
  std::vector<spec::TrainerConfig> configs;
  std::vector<std::unique_ptr<Rendezvous>> meetings;
  std::vector<std::string> peers(2);
  for (int64_t rank = 0; rank < 2; ++rank) {
    configs.push_back(config(rank));
    configs.back().device = "cuda:0";
    configs.back().listen = "127.0.0.1";
    configs.back().secret = "00112233";
    configs.back().setup_timeout_s = 5;
  }
  for (int64_t rank = 0; rank < 2; ++rank) {
    meetings.push_back(std::make_unique<Rendezvous>(configs[rank], devices));
    std::getline(std::ifstream(*configs[rank].folder + "/address"),
                 peers[rank]);
  }
  return KindsOnAllRanks(2, [&](int64_t rank) {
    RunControl control;
    control.GivePeers(peers);
    act(*meetings[rank]->Meet(control));
  });
}

TEST_F(DeviceRanks, MeetOverTheRingAndJoinTheirDevices) {
  DeviceAccess devices;
  devices.open_queue = [] { return std::make_shared<test::HostQueue>(); };
  devices.nccl = FakeLibrary();
  const auto errors =
      MeetByOrder([&](int64_t rank) { return Config(rank); }, devices,
                  [](Communicator& ranks) {
                    EXPECT_EQ(ranks.Transport(), "nccl 2.28.9");
                    ranks.Barrier();
                  });
  EXPECT_THAT(errors, Each(IsEmpty()));
  EXPECT_EQ(Fake().Calls("ncclCommInitRankConfig"), 2);
  EXPECT_EQ(Fake().Living(), 0);
}

TEST_F(DeviceRanks, MissingNcclIsAFailureToSetUp) {
  DeviceAccess devices;
  devices.open_queue = [] { return std::make_shared<test::HostQueue>(); };
  devices.nccl = "libnccl_of_no_machine.so.2";
  const auto errors = MeetByOrder([&](int64_t rank) { return Config(rank); },
                                  devices, [](Communicator&) {});
  EXPECT_THAT(errors, Each(StartsWith("SetUpError: ")));
  EXPECT_THAT(errors, Each(HasSubstr("libnccl_of_no_machine.so.2")));
}

TEST_F(DeviceRanks, DeviceThatCannotBeUsedIsTold) {
  DeviceAccess devices;
  devices.open_queue = []() -> std::shared_ptr<collective::DeviceQueue> {
    throw std::runtime_error("CUDA error: device is busy");
  };
  const auto errors = MeetByOrder([&](int64_t rank) { return Config(rank); },
                                  devices, [](Communicator&) {});
  EXPECT_THAT(errors, Each("CUDA error: device is busy"));
}

}  // namespace
}  // namespace leadline::trainer
