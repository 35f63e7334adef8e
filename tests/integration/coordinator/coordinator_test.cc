#include <chrono>
#include <fstream>
#include <future>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator_world.h"
#include "fake_agent.h"
#include "leadline/v1/experiment.pb.h"

namespace leadline {
namespace {

using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::SizeIs;

TEST(CoordinatorTest, SweepIsSubmittedTrainedAndFollowedToItsEnd) {
  CoordinatorWorld world;
  FakeAgent agent(world.Channel(), RegisterMessage("n", 2));
  v1::SubmitReply reply;
  ASSERT_TRUE(world.Submit(world.Request(kSmallSweep), &reply).ok());
  EXPECT_EQ(reply.sweep(), "s1");
  EXPECT_EQ(reply.cells(), 2);
  EXPECT_EQ(reply.trials(), 4);
  const std::vector<v1::Progress> progress = world.Follow("s1");
  ASSERT_FALSE(progress.empty());
  EXPECT_TRUE(progress.back().ended());
  EXPECT_EQ(progress.back().state(), "complete");
  EXPECT_EQ(progress.back().trials().at("succeeded"), 4);
  EXPECT_EQ(progress.back().planned(), 4);
  EXPECT_DOUBLE_EQ(progress.back().fraction_done(), 1);
  const auto cells =
      *world.reader().ListCells(SweepId{1}, "validation_loss", 0, 10);
  ASSERT_THAT(cells, SizeIs(2));
  EXPECT_THAT(cells[0].values, SizeIs(2));
  EXPECT_EQ(cells[0].values[1].value, 2.0);
  EXPECT_TRUE(cells[0].cell.validation_floor.has_value());
}

TEST(CoordinatorTest, BadSweepFileComesBackWithAllItsPlacesAndStoresNothing) {
  CoordinatorWorld world;
  v1::SubmitReply reply;
  const grpc::Status status = world.Submit(
      world.Request("leadline: 1\nname: x\nseeds: 0x10\ncolour: red\n"),
      &reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("sweep.yaml:3:8: "));
  EXPECT_THAT(status.error_message(), HasSubstr("sweep.yaml:4:1: "));
  v1::Problems problems;
  ASSERT_TRUE(problems.ParseFromString(status.error_details()));
  EXPECT_GE(problems.problems_size(), 2);
  EXPECT_EQ(problems.problems(problems.problems_size() - 1).line(), 4);
  EXPECT_EQ(problems.problems(problems.problems_size() - 1).column(), 1);
  EXPECT_EQ(*world.reader().CountSweeps(), 0);
}

TEST(CoordinatorTest, OneRequestSentByManyAtOnceIsDoneOnce) {
  CoordinatorWorld world;
  std::vector<std::future<std::string>> answers;
  for (int i = 0; i < 16; ++i) {
    answers.push_back(std::async(std::launch::async, [&world] {
      v1::SubmitRequest request = world.Request(kSmallSweep);
      request.set_make_new(true);
      v1::SubmitReply reply;
      EXPECT_TRUE(world.Submit(request, &reply).ok());
      return reply.sweep();
    }));
  }
  for (auto& answer : answers) EXPECT_EQ(answer.get(), "s1");
  EXPECT_EQ(*world.reader().CountSweeps(), 1);
}

TEST(CoordinatorTest, RequestWithoutAnIdIsRefused) {
  CoordinatorWorld world;
  v1::SubmitReply reply;
  EXPECT_EQ(world.Submit(world.Request(kSmallSweep, ""), &reply).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(CoordinatorTest, PlanStreamsCountsThenCellsAndStoresNothing) {
  CoordinatorWorld world;
  grpc::ClientContext context;
  const auto stub = world.Sweeps();
  const auto stream = stub->Plan(&context, world.Request(kSmallSweep));
  v1::PlanPart part;
  ASSERT_TRUE(stream->Read(&part));
  EXPECT_EQ(part.counts().trials(), 4);
  EXPECT_TRUE(part.counts().cells_listed());
  ASSERT_TRUE(stream->Read(&part));
  EXPECT_EQ(part.cells().cells_size(), 2);
  EXPECT_EQ(part.cells().cells(1).depth(), 2);
  EXPECT_GT(part.cells().cells(1).parameters(), 0);
  EXPECT_FALSE(stream->Read(&part));
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(*world.reader().CountSweeps(), 0);
}

TEST(CoordinatorTest, PlanOfManyCellsComesInPagesBelowTheLimit) {
  CoordinatorWorld world;
  std::string text =
      "leadline: 1\nname: many\nseeds: 1\naxes:\n"
      "  dataset: [iid27]\n  method: [prenorm]\n  depth: [";
  for (int depth = 1; depth <= 100; ++depth) {
    text += (depth > 1 ? ", " : "") + std::to_string(depth);
  }
  text += "]\n  steps: [";
  for (int steps = 1; steps <= 100; ++steps) {
    text += (steps > 1 ? ", " : "") + std::to_string(steps);
  }
  text += "]\n";
  grpc::ClientContext context;
  const auto stub = world.Sweeps();
  const auto stream = stub->Plan(&context, world.Request(text));
  v1::PlanPart part;
  int64_t cells = 0;
  int64_t pages = 0;
  while (stream->Read(&part)) {
    EXPECT_LT(part.ByteSizeLong(), size_t{256} << 10);
    cells += part.cells().cells_size();
    ++pages;
  }
  const grpc::Status status = stream->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(cells, 10'000);
  EXPECT_GT(pages, 2);
}

TEST(CoordinatorTest, DataOfAUserIsHashedAndWhatIsNoFileIsRefused) {
  CoordinatorWorld world;
  std::ofstream(world.folder() / "corpus.txt") << std::string(5000, 'a');
  std::string text(kSmallSweep);
  text.replace(text.find("[iid27]"), 7, "[{path: corpus.txt}]");
  v1::SubmitReply reply;
  const grpc::Status good = world.Submit(world.Request(text, "g"), &reply);
  ASSERT_TRUE(good.ok()) << good.error_message();
  const auto cells =
      *world.reader().ListCells(SweepId{1}, "validation_loss", 0, 1);
  EXPECT_EQ(cells.at(0).cell.dataset.content_hash.size(), 64u);
  EXPECT_EQ(cells.at(0).cell.dataset.path,
            (world.folder() / "corpus.txt").string());
  for (const char* path : {"missing.txt", "/dev/zero", "."}) {
    std::string bad(kSmallSweep);
    bad.replace(bad.find("[iid27]"), 7, "[{path: " + std::string(path) + "}]");
    const grpc::Status status = world.Submit(world.Request(bad, path), &reply);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << path;
    EXPECT_THAT(status.error_message(), HasSubstr("sweep.yaml:7:"));
  }
}

TEST(CoordinatorTest, MessageAboveTheLimitIsRefused) {
  CoordinatorWorld world;
  v1::SubmitReply reply;
  const grpc::Status status =
      world.Submit(world.Request(std::string(size_t{2} << 20, '#')), &reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST(CoordinatorTest, WatchingWhatIsNotThereIsNotFound) {
  CoordinatorWorld world;
  grpc::ClientContext context;
  v1::WatchRequest request;
  request.set_sweep("s99");
  const auto stub = world.Sweeps();
  const auto stream = stub->Watch(&context, request);
  v1::Progress progress;
  EXPECT_FALSE(stream->Read(&progress));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST(CoordinatorTest, WatchTellsOfFailuresOnceAndCancelEndsIt) {
  CoordinatorWorld world;
  v1::SubmitReply reply;
  ASSERT_TRUE(world.Submit(world.Request(kSmallSweep), &reply).ok());
  FakeAgent agent(
      world.Channel(), RegisterMessage("n", 1),
      [](FakeAgent::Stream& stream, const v1::CoordinatorMessage& message) {
        if (!message.has_start()) return;
        v1::AgentMessage refused;
        *refused.mutable_refused()->mutable_attempt() =
            message.start().attempt();
        refused.mutable_refused()->set_kind("data");
        refused.mutable_refused()->set_message("no such data");
        stream.Write(refused);
      });
  const std::vector<v1::Progress> progress = world.Follow("small");
  EXPECT_EQ(progress.back().trials().at("failed"), 4);
  std::multiset<std::string> told;
  for (const v1::Progress& one : progress) {
    for (const v1::TrialFailure& failure : one.failures()) {
      EXPECT_EQ(failure.kind(), "data");
      EXPECT_TRUE(failure.is_final());
      told.insert(failure.attempt());
    }
  }
  EXPECT_EQ(told, (std::multiset<std::string>{"s1.1.0@1", "s1.1.1@1",
                                              "s1.2.0@1", "s1.2.1@1"}));
}

TEST(CoordinatorTest, CancelByNameAnswersTheIdAndTheNumber) {
  CoordinatorWorld world;
  v1::SubmitReply submitted;
  ASSERT_TRUE(world.Submit(world.Request(kSmallSweep), &submitted).ok());
  v1::CancelRequest request;
  request.set_target("sma");
  request.set_request_id("c1");
  v1::CancelReply reply;
  grpc::ClientContext context;
  ASSERT_TRUE(world.Sweeps()->Cancel(&context, request, &reply).ok());
  EXPECT_EQ(reply.target(), "s1");
  EXPECT_EQ(reply.cancelled(), 4);
  EXPECT_EQ(world.Follow("s1").back().state(), "cancelled");
}

TEST(CoordinatorTest, AgentMustRegisterFirstAndSpeakOfRealAttempts) {
  CoordinatorWorld world;
  v1::AgentMessage beat;
  beat.mutable_heartbeat()->set_number(1);
  FakeAgent silent(world.Channel(), beat);
  EXPECT_EQ(silent.Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);

  FakeAgent confused(world.Channel(), RegisterMessage("n", 1));
  beat.mutable_heartbeat()->add_attempts()->set_cohort("../../etc");
  confused.stream().Write(beat);
  EXPECT_EQ(confused.Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);

  v1::AgentMessage old = RegisterMessage("n", 1);
  old.mutable_register_()->set_protocol_version(0);
  FakeAgent outdated(world.Channel(), old);
  const grpc::Status refused = outdated.Finish();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(refused.error_message(), HasSubstr("update leadline-agent n"));

  v1::AgentMessage advanced = RegisterMessage("n", 1);
  advanced.mutable_register_()->set_protocol_version(9);
  advanced.mutable_register_()->set_least_protocol_version(8);
  FakeAgent newer(world.Channel(), advanced);
  EXPECT_THAT(newer.Finish().error_message(),
              HasSubstr("update leadline-coordinator"));
}

TEST(CoordinatorTest, SecondAgentOfANameIsRefusedWhileTheFirstIsHeard) {
  CoordinatorWorld world;
  std::promise<void> welcome;
  FakeAgent first(
      world.Channel(), RegisterMessage("n", 1),
      [&](FakeAgent::Stream&, const v1::CoordinatorMessage& message) {
        if (message.has_registered()) welcome.set_value();
      });
  welcome.get_future().wait();
  v1::AgentMessage other = RegisterMessage("n", 1);
  other.mutable_register_()->set_instance("another");
  FakeAgent second(world.Channel(), other);
  std::future<grpc::Status> refused =
      std::async(std::launch::async, [&] { return second.Finish(); });
  // The first is asked for a sign of life; each beat is one.
  v1::AgentMessage beat;
  beat.mutable_heartbeat()->set_number(1);
  while (refused.wait_for(std::chrono::milliseconds(20)) !=
         std::future_status::ready) {
    first.stream().Write(beat);
  }
  EXPECT_EQ(refused.get().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST(CoordinatorTest, StopEndsInTimeWithManyStreamsOpen) {
  CoordinatorWorld world;
  v1::SubmitReply reply;
  ASSERT_TRUE(world.Submit(world.Request(kSmallSweep), &reply).ok());
  std::vector<std::future<grpc::StatusCode>> watches;
  std::vector<std::future<void>> begun;
  for (int i = 0; i < 20; ++i) {
    auto first = std::make_shared<std::promise<void>>();
    begun.push_back(first->get_future());
    watches.push_back(std::async(std::launch::async, [&world, first] {
      grpc::ClientContext context;
      v1::WatchRequest request;
      request.set_sweep("s1");
      const auto stub = world.Sweeps();
      const auto stream = stub->Watch(&context, request);
      v1::Progress progress;
      stream->Read(&progress);
      first->set_value();
      while (stream->Read(&progress)) {
      }
      return stream->Finish().error_code();
    }));
  }
  FakeAgent agent(world.Channel(), RegisterMessage("n", 1),
                  [](FakeAgent::Stream&, const v1::CoordinatorMessage&) {});
  for (auto& one : begun) one.wait();
  const auto before = steady_clock::now();
  world.coordinator().Stop();
  EXPECT_LT(steady_clock::now() - before, std::chrono::seconds(5));
  for (auto& watch : watches) {
    EXPECT_EQ(watch.get(), grpc::StatusCode::UNAVAILABLE);
  }
}

TEST(CoordinatorTest, PrivateOneEndsWithItsLastClientAndPlacesOnlyOnDemand) {
  CoordinatorWorld world(true);
  EXPECT_FALSE(world.coordinator().WaitUntilUnused({}));
  FakeAgent agent(world.Channel(), RegisterMessage("n", 1));
  v1::SubmitReply submitted;
  ASSERT_TRUE(world.Submit(world.Request(kSmallSweep), &submitted).ok());
  const auto stub = world.Sweeps();
  grpc::ClientContext idle_context;
  const auto idle = stub->Attach(&idle_context, {});
  v1::AttachReply reply;
  ASSERT_TRUE(idle->Read(&reply));
  EXPECT_TRUE(reply.is_private());
  EXPECT_EQ(world.reader().GetTrial({{{1}, 1}, 0})->trial.state,
            TrialState::kQueued);

  grpc::ClientContext eager_context;
  v1::AttachRequest request;
  request.set_wants_work(true);
  const auto eager = stub->Attach(&eager_context, request);
  ASSERT_TRUE(eager->Read(&reply));
  EXPECT_EQ(world.Follow("s1").back().state(), "complete");

  eager_context.TryCancel();
  EXPECT_FALSE(eager->Read(&reply));
  EXPECT_FALSE(
      world.coordinator().WaitUntilUnused(std::chrono::milliseconds(50)));
  const auto before = steady_clock::now();
  idle_context.TryCancel();
  EXPECT_FALSE(idle->Read(&reply));
  while (!world.coordinator().WaitUntilUnused(std::chrono::seconds(1))) {
  }
  EXPECT_LT(steady_clock::now() - before, std::chrono::seconds(5));
}

TEST(CoordinatorTest, LogsOfATrainerAreReadThroughItsAgent) {
  CoordinatorWorld world;
  FakeAgent agent(
      world.Channel(), RegisterMessage("n", 1),
      [](FakeAgent::Stream& stream, const v1::CoordinatorMessage& message) {
        FakeAgent::TrainAtOnce(stream, message);
        if (!message.has_read_log()) return;
        v1::AgentMessage log;
        log.mutable_log()->set_request(message.read_log().request());
        log.mutable_log()->set_data("hello from stderr\n");
        log.mutable_log()->set_at_end(true);
        stream.Write(log);
      });
  v1::SubmitReply submitted;
  ASSERT_TRUE(world.Submit(world.Request(kSmallSweep), &submitted).ok());
  world.Follow("s1");
  const auto stub = v1::ResultsService::NewStub(world.Channel());
  grpc::ClientContext context;
  v1::LogRequest request;
  request.set_trial("s1.1.0");
  const auto stream = stub->ReadLog(&context, request);
  std::string text;
  v1::LogChunk chunk;
  while (stream->Read(&chunk)) text += chunk.data();
  const grpc::Status status = stream->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(text, "hello from stderr\n");
}

}  // namespace
}  // namespace leadline
