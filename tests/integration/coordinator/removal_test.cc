// Remove through real streams: what it says that nodes would be rid of.

#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator_world.h"
#include "fake_agent.h"
#include "proto/protocol_version.h"

namespace leadline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

v1::AgentMessage Newest(const std::string& node, int64_t slots) {
  v1::AgentMessage message = RegisterMessage(node, slots);
  message.mutable_register_()->set_protocol_version(kProtocol.newest);
  return message;
}

/// Trains at once, and says of any sweep that it keeps so much.
FakeAgent::Hear Keeping(int64_t bytes) {
  return [bytes](FakeAgent::Stream& stream,
                 const v1::CoordinatorMessage& message) {
    FakeAgent::TrainAtOnce(stream, message);
    if (!message.has_weigh()) return;
    v1::AgentMessage reply;
    reply.mutable_weighed()->set_request(message.weigh().request());
    reply.mutable_weighed()->set_attempts(message.weigh().sweeps_size());
    reply.mutable_weighed()->set_bytes(bytes);
    stream.Write(reply);
  };
}

class RemovalTest : public ::testing::Test {
 protected:
  void Train() {
    v1::SubmitReply submitted;
    ASSERT_TRUE(world_.Submit(world_.Request(kSmallSweep), &submitted).ok());
    world_.Follow("s1");
  }
  /// "NODE ATTEMPTS BYTES UNKNOWN", one a node.
  std::vector<std::string> Ask() {
    const v1::RemoveReply reply = Reply({"s1"});
    std::vector<std::string> said;
    for (const v1::NodeFiles& node : reply.nodes()) {
      said.push_back(node.node() + " " + std::to_string(node.attempts()) + " " +
                     std::to_string(node.bytes()) + " " + node.unknown());
    }
    return said;
  }
  /// Until what it says fits.
  template <typename Fits>
  std::vector<std::string> AskUntil(const Fits& fits) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::minutes(1);
    std::vector<std::string> said = Ask();
    while (!fits(said) && std::chrono::steady_clock::now() < deadline) {
      said = Ask();
    }
    return said;
  }
  v1::RemoveReply Reply(const std::vector<std::string>& targets) {
    grpc::ClientContext context;
    v1::RemoveRequest request;
    for (const std::string& target : targets) request.add_targets(target);
    request.set_dry_run(true);
    v1::RemoveReply reply;
    const auto status = world_.Sweeps()->Remove(&context, request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  }

  CoordinatorWorld world_;
};

TEST_F(RemovalTest, EveryNodeSaysWhatItKeeps) {
  FakeAgent trainer(world_.Channel(), Newest("b", 1), Keeping(700));
  Train();
  FakeAgent other(world_.Channel(), Newest("a", 0), Keeping(80));
  FakeAgent empty(
      world_.Channel(), Newest("c", 0),
      [](FakeAgent::Stream& stream, const v1::CoordinatorMessage& message) {
        if (!message.has_weigh()) return;
        v1::AgentMessage reply;
        reply.mutable_weighed()->set_request(message.weigh().request());
        stream.Write(reply);
      });
  // Those that were there first are known by now; the others soon.
  EXPECT_THAT(AskUntil([](const auto& said) { return said.size() == 2; }),
              ElementsAre("a 1 80 ", "b 1 700 "));
}

TEST_F(RemovalTest, OfNodesThatCannotSayTheReasonIsTold) {
  std::optional<FakeAgent> trainer(std::in_place, world_.Channel(),
                                   RegisterMessage("old", 1));
  Train();
  EXPECT_THAT(Ask(), ElementsAre("old 0 0 its agent is of an older version"));
  trainer.reset();
  EXPECT_THAT(AskUntil([](const auto& said) {
                return said.front().find("older") == std::string::npos;
              }),
              ElementsAre("old 0 0 it is not connected"));
}

TEST_F(RemovalTest, ANodeThatRanItAndKeepsNothingSaysSo) {
  FakeAgent trainer(
      world_.Channel(), Newest("n", 1),
      [](FakeAgent::Stream& stream, const v1::CoordinatorMessage& message) {
        FakeAgent::TrainAtOnce(stream, message);
        if (!message.has_weigh()) return;
        v1::AgentMessage reply;
        reply.mutable_weighed()->set_request(message.weigh().request());
        stream.Write(reply);
      });
  Train();
  EXPECT_THAT(Ask(), ElementsAre("n 0 0 "));
}

TEST_F(RemovalTest, FilesBesideASharedCoordinatorAreNotThoseOfItsNodes) {
  FakeAgent trainer(world_.Channel(), RegisterMessage("far", 1));
  Train();
  std::filesystem::create_directories(world_.folder() / "attempts" /
                                      "s1.1.c0@1");
  EXPECT_THAT(Ask(), ElementsAre("far 0 0 its agent is of an older version"));
}

TEST_F(RemovalTest, WhatIsNamedTwiceGoesOnce) {
  FakeAgent trainer(world_.Channel(), RegisterMessage("n", 1));
  Train();
  const v1::RemoveReply reply = Reply({"s1.1.0", "s1", "small", "s1.1.0"});
  ASSERT_EQ(reply.targets_size(), 1);
  EXPECT_EQ(reply.targets(0).target(), "s1");
  EXPECT_EQ(Reply({"s1.1.0", "s1.1.1", "s1.1.0"}).targets_size(), 2);
}

TEST_F(RemovalTest, AStopWaitsForNoAgentThatIsSilent) {
  std::promise<void> asked;
  FakeAgent trainer(
      world_.Channel(), Newest("n", 1),
      [&](FakeAgent::Stream& stream, const v1::CoordinatorMessage& message) {
        FakeAgent::TrainAtOnce(stream, message);
        if (message.has_weigh()) asked.set_value();
      });
  Train();
  std::jthread stop([&] {
    asked.get_future().wait();
    world_.coordinator().Stop();
  });
  EXPECT_THAT(Ask(), ElementsAre("n 0 0 it went away before it answered"));
}

TEST_F(RemovalTest, ASweepThatNeverRanIsKeptByNobody) {
  v1::SubmitReply submitted;
  ASSERT_TRUE(world_.Submit(world_.Request(kSmallSweep), &submitted).ok());
  grpc::ClientContext context;
  v1::CancelRequest cancel;
  cancel.set_target("s1");
  cancel.set_request_id("c1");
  v1::CancelReply cancelled;
  ASSERT_TRUE(world_.Sweeps()->Cancel(&context, cancel, &cancelled).ok());
  EXPECT_THAT(Ask(), IsEmpty());
}

TEST_F(RemovalTest, AnAgentThatGoesAwayMeanwhileDoesNotHoldTheAnswerUp) {
  FakeAgent trainer(
      world_.Channel(), Newest("n", 1),
      [](FakeAgent::Stream& stream, const v1::CoordinatorMessage& message) {
        FakeAgent::TrainAtOnce(stream, message);
        if (message.has_weigh()) stream.WritesDone();
      });
  Train();
  EXPECT_THAT(Ask(), ElementsAre("n 0 0 it went away before it answered"));
}

}  // namespace
}  // namespace leadline
