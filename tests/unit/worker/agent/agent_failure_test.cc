// Each kind of failure that needs no device, brought about by a real process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "session_fixture.h"

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class AgentFailure : public SessionFixture {
 protected:
  /// The end of an attempt whose trainer behaves so.
  v1::AttemptEnded EndOf(const std::string& behaviour,
                         AgentOptions options = {}) {
    RunningAgent agent(coordinator_.address(), std::move(options));
    Await(IsRegistered);
    agent.Behave(behaviour);
    EXPECT_TRUE(coordinator_.Send(StartOrder(1)));
    AwaitEnds(1);
    EXPECT_EQ(coordinator_.heard().gaps, 0);
    return coordinator_.heard().ended.at(0);
  }
};

struct Misbehaviour {
  std::string word;
  std::string kind;
  int exit_code;
  int signal;
  std::string message;
};

class AgentMisbehaviour : public AgentFailure,
                          public ::testing::WithParamInterface<Misbehaviour> {};

TEST_P(AgentMisbehaviour, EndsWithItsKind) {
  const v1::AttemptEnded ended = EndOf(GetParam().word);
  EXPECT_EQ(ended.kind(), GetParam().kind);
  EXPECT_EQ(ended.exit_code(), GetParam().exit_code);
  EXPECT_EQ(ended.signal(), GetParam().signal);
  EXPECT_THAT(ended.message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, AgentMisbehaviour,
    ::testing::Values(
        Misbehaviour{"crash", "crash", -1, SIGSEGV, "signal 11"},
        Misbehaviour{"fail", "disk", 1, 0, "no space left"},
        Misbehaviour{"full_disk", "disk", 1, 0, "No space left on device"},
        Misbehaviour{"bad_alloc", "oom", -1, SIGABRT, "bad_alloc"},
        Misbehaviour{"cuda", "device", -1, SIGABRT, "illegal memory access"},
        Misbehaviour{"nccl", "nccl", 1, 0, "NCCL error"},
        Misbehaviour{"nccl_init", "nccl_init", 1, 0, "ncclCommInitRank"},
        Misbehaviour{"rubbish", "crash", 0, 0, "50 lines"},
        Misbehaviour{"exit_at_start", "config", 2, 0, "does not like"},
        Misbehaviour{"huge_line", "", 0, 0, ""}),
    [](const auto& info) { return info.param.word; });

TEST_F(AgentFailure, OneThatStandsStillHangsAndIsEnded) {
  AgentOptions options;
  options.policy.hang.least = milliseconds(300);
  const v1::AttemptEnded ended = EndOf("hang", options);
  EXPECT_EQ(ended.kind(), "hang");
  EXPECT_EQ(ended.signal(), SIGTERM);
  EXPECT_THAT(ended.message(), HasSubstr("it used no processor time"));
  EXPECT_THAT(ended.message(), HasSubstr("its last record was step 20"));
  EXPECT_FALSE(IsAlive(coordinator_.heard().started[0].pid()));
}

TEST_F(AgentFailure, OneThatIsStoppedIsNamedAsSuch) {
  AgentOptions options;
  options.policy.hang.least = milliseconds(300);
  const v1::AttemptEnded ended = EndOf("suspend", options);
  EXPECT_EQ(ended.kind(), "hang");
  EXPECT_EQ(ended.signal(), SIGKILL);
  EXPECT_THAT(ended.message(), HasSubstr("the process is stopped"));
}

TEST_F(AgentFailure, WithoutRoomNoAttemptStarts) {
  AgentOptions options;
  options.spool.least_free_bytes = int64_t{1} << 60;
  RunningAgent agent(coordinator_.address(), options);
  Await(IsRegistered);
  ASSERT_TRUE(coordinator_.Send(StartOrder(1)));
  Await([](const Heard& heard) { return !heard.refused.empty(); });
  EXPECT_EQ(coordinator_.heard().refused[0].kind(), "disk");
  EXPECT_THAT(coordinator_.heard().refused[0].message(),
              HasSubstr("MB are free"));
  EXPECT_TRUE(std::filesystem::is_empty(agent.state()));
}

TEST_F(AgentFailure, WhoseCheckpointsWouldNotFitDoesNotStart) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  v1::CoordinatorMessage order = StartOrder(1);
  auto& settings = *order.mutable_start()->mutable_settings();
  settings["method"].set_word("prenorm");
  settings["depth"].set_integer(64);
  settings["d_model"].set_integer(8192);
  settings["n_heads"].set_integer(64);
  settings["checkpoint_every"].set_integer(1);
  settings["checkpoint_keep"].set_integer(1000);
  for (int64_t seed = 2; seed < 64; ++seed)
    order.mutable_start()->add_seeds(seed);
  ASSERT_TRUE(coordinator_.Send(order));
  Await([](const Heard& heard) { return !heard.refused.empty(); });
  EXPECT_EQ(coordinator_.heard().refused[0].kind(), "disk");
  EXPECT_THAT(coordinator_.heard().refused[0].message(),
              HasSubstr("checkpoints"));
  EXPECT_TRUE(coordinator_.heard().started.empty());
}

}  // namespace
}  // namespace leadline::agent
