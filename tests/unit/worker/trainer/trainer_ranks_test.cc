// Several trainers as the ranks of one attempt: real processes on loopback.

#include <csignal>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/worker/trainer/trainer_program.h"

namespace leadline::trainer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

std::string LoopbackHost() {
  const int probe = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const int failed =
      bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  close(probe);
  return failed == 0 ? "::1" : "127.0.0.1";
}

void SendOrder(const fs::path& folder, const json& order) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder / "orders.sock";
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  std::memcpy(address.sun_path, path.data(), path.size());
  const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(
      connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
      0);
  const std::string line = order.dump() + "\n";
  EXPECT_EQ(write(client, line.data(), line.size()), std::ssize(line));
  close(client);
}

class TrainerRanks : public TrainerProgram {
 protected:
  ~TrainerRanks() override {
    for (size_t rank = 0; rank < ranks_.size(); ++rank) End(rank, SIGKILL);
  }

  /// Configurations of ranks whose training does not end by itself.
  std::vector<spec::TrainerConfig> Configs(int64_t ranks) const {
    std::vector<spec::TrainerConfig> configs;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      spec::TrainerConfig config =
          SmallConfig({{"steps", int64_t{100'000'000}},
                       {"eval_every", int64_t{100'000'000}},
                       {"batch_sequences", int64_t{12}},
                       {"log_every", int64_t{1}},
                       {"devices", ranks}});
      config.world_size = ranks;
      config.rank = rank;
      config.listen = "127.0.0.1";
      config.secret = std::string(32, 'a');
      config.folder = MakeFolder(NameOf(rank));
      configs.push_back(config);
    }
    return configs;
  }

  void StartAll(const std::vector<spec::TrainerConfig>& configs) {
    for (const spec::TrainerConfig& config : configs) {
      const fs::path file = folder_ / (NameOf(config.rank) + ".json");
      std::ofstream(file) << spec::TrainerConfigJson(config);
      ranks_.push_back(
          {StartWith(file, folder_ / (NameOf(config.rank) + ".out"),
                     NameOf(config.rank) + ".err"),
           *config.folder});
    }
  }

  /// As agents do: reads where each rank listens, and tells all of them.
  void Introduce() {
    json peers = json::array();
    for (const Rank& rank : ranks_) {
      const fs::path file = rank.folder / "address";
      ASSERT_TRUE(WaitUntil(rank.process, [&] { return fs::exists(file); }));
      const std::string text = Contents(file);
      peers.push_back(text.substr(0, text.find('\n')));
    }
    for (const Rank& rank : ranks_) {
      SendOrder(rank.folder, {{"order", "peers"}, {"peers", peers}});
    }
  }

  void AwaitSteps() {
    ASSERT_TRUE(WaitUntil(ranks_[0].process, [&] {
      return Contents(ranks_[0].folder / "events.jsonl")
                 .find("\"event\":\"step\"") != std::string::npos;
    }));
  }

  pid_t process(size_t rank) const { return ranks_[rank].process; }

  /// Waits for the end of a rank; a `signal` helps.
  Outcome End(size_t rank, int signal = 0) {
    if (ranks_[rank].process == 0) return {};
    if (signal != 0) kill(ranks_[rank].process, signal);
    return Finish(std::exchange(ranks_[rank].process, 0), ranks_[rank].folder,
                  NameOf(static_cast<int64_t>(rank)) + ".err");
  }

  void ExpectFailure(size_t rank, const std::string& kind,
                     const testing::Matcher<std::string>& message) {
    const Outcome outcome = End(rank);
    EXPECT_EQ(outcome.exit_code, 1);
    ASSERT_FALSE(outcome.events.empty()) << outcome.errors;
    const json& end = outcome.events.back();
    EXPECT_EQ(end["event"], "end");
    EXPECT_EQ(end["kind"], kind);
    EXPECT_THAT(end["message"].get<std::string>(), message);
    EXPECT_TRUE(outcome.Of("result").empty());
  }

 private:
  struct Rank {
    pid_t process = 0;
    fs::path folder;
  };

  static std::string NameOf(int64_t rank) {
    return "rank-" + std::to_string(rank);
  }

  std::vector<Rank> ranks_;
};

TEST_F(TrainerRanks, TheLossOfOneEndsTheOthersAndIsNamed) {
  StartAll(Configs(3));
  Introduce();
  AwaitSteps();
  End(1, SIGKILL);
  ExpectFailure(0, "nccl", HasSubstr("rank 1"));
  ExpectFailure(2, "nccl", HasSubstr("rank 1"));
}

TEST_F(TrainerRanks, AStoppedOneIsMissedWithinTheLimitOfAnOperation) {
  std::vector<spec::TrainerConfig> configs = Configs(2);
  for (spec::TrainerConfig& config : configs) config.timeout_s = 1;
  StartAll(configs);
  Introduce();
  AwaitSteps();
  kill(process(1), SIGSTOP);
  ExpectFailure(
      0, "nccl",
      AllOf(HasSubstr("did not end within 1.0 s"), HasSubstr("rank 1")));
}

TEST_F(TrainerRanks, RanksOfOtherSettingsDoNotTrainTogether) {
  std::vector<spec::TrainerConfig> configs = Configs(2);
  configs[1].seeds = {0, 2};
  StartAll(configs);
  Introduce();
  ExpectFailure(0, "nccl_init", HasSubstr("settings"));
  ExpectFailure(1, "nccl_init", HasSubstr("settings"));
}

TEST_F(TrainerRanks, AnAbsentOneIsWaitedForWithinTheLimit) {
  std::vector<spec::TrainerConfig> configs = Configs(2);
  configs.pop_back();
  configs[0].setup_timeout_s = 1;
  StartAll(configs);
  ExpectFailure(0, "nccl_init", HasSubstr("within 1 s"));
}

TEST_F(TrainerRanks, AStopOfOneIsAStopOfAllAndNoFailure) {
  std::vector<spec::TrainerConfig> configs = Configs(2);
  for (spec::TrainerConfig& config : configs) config.listen = LoopbackHost();
  StartAll(configs);
  Introduce();
  AwaitSteps();
  const Outcome asked = End(1, SIGTERM);
  const Outcome other = End(0);
  for (const Outcome& outcome : {asked, other}) {
    EXPECT_EQ(outcome.exit_code, 1);
    ASSERT_FALSE(outcome.events.empty()) << outcome.errors;
    EXPECT_EQ(outcome.events.back()["outcome"], "cancelled");
  }
  EXPECT_FALSE(other.Of("step").empty());
  EXPECT_TRUE(asked.Of("step").empty());
}

}  // namespace
}  // namespace leadline::trainer
