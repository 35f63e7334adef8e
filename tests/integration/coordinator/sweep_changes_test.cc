// Retry, Pause, Resume and Explain, through real streams.

#include <future>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator_world.h"
#include "fake_agent.h"

namespace leadline {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;

class SweepChanges : public ::testing::Test {
 protected:
  void Submit(const std::string& text = kSmallSweep) {
    v1::SubmitReply reply;
    ASSERT_TRUE(world_.Submit(world_.Request(text), &reply).ok());
  }

  grpc::Status Retry(const v1::RetryRequest& request, v1::RetryReply* reply) {
    grpc::ClientContext context;
    return world_.Sweeps()->Retry(&context, request, reply);
  }
  grpc::Status Pause(const v1::PauseRequest& request, v1::PauseReply* reply) {
    grpc::ClientContext context;
    return world_.Sweeps()->Pause(&context, request, reply);
  }
  grpc::Status Resume(const v1::ResumeRequest& request,
                      v1::ResumeReply* reply) {
    grpc::ClientContext context;
    return world_.Sweeps()->Resume(&context, request, reply);
  }
  grpc::Status Explain(const std::string& target, v1::ExplainReply* reply) {
    grpc::ClientContext context;
    v1::ExplainRequest request;
    request.set_target(target);
    return world_.Sweeps()->Explain(&context, request, reply);
  }

  /// Refuses the first attempts it is given, then trains.
  FakeAgent::Hear RefuseFirst(int refusals) {
    return [this, refusals](FakeAgent::Stream& stream,
                            const v1::CoordinatorMessage& message) {
      if (!message.has_start() || refused_ == refusals) {
        return FakeAgent::TrainAtOnce(stream, message);
      }
      ++refused_;
      v1::AgentMessage refused;
      *refused.mutable_refused()->mutable_attempt() = message.start().attempt();
      refused.mutable_refused()->set_kind("config");
      refused.mutable_refused()->set_message("no such setting");
      stream.Write(refused);
    };
  }

  CoordinatorWorld world_;
  int refused_ = 0;  // touched by the agent's thread alone
};

v1::RetryRequest RetryOf(const std::vector<std::string>& targets,
                         const std::string& id) {
  v1::RetryRequest request;
  for (const std::string& target : targets) request.add_targets(target);
  request.set_request_id(id);
  return request;
}

TEST_F(SweepChanges, WhatFailedIsQueuedAgainAndTheSweepCompletesAgain) {
  FakeAgent agent(world_.Channel(), RegisterMessage("n", 1), RefuseFirst(1));
  Submit();
  ASSERT_EQ(world_.Follow("s1").back().trials().at("failed"), 2);
  v1::ExplainReply why;
  ASSERT_TRUE(Explain("s1.1.0", &why).ok());
  EXPECT_EQ(why.trial().state(), "failed");
  EXPECT_THAT(why.trial().summary(), HasSubstr("failed after 1 attempt"));
  EXPECT_THAT(why.trial().summary(), HasSubstr("no such setting"));
  EXPECT_THAT(why.trial().summary(), HasSubstr("leadline retry s1.1.0"));
  ASSERT_TRUE(Explain("s1", &why).ok());
  ASSERT_EQ(why.sweep().failures_size(), 1);
  EXPECT_EQ(why.sweep().failures(0).kind(), "config");
  EXPECT_EQ(why.sweep().failures(0).trials(), 2);
  EXPECT_EQ(why.sweep().ended(0).trials(), 2);
  EXPECT_TRUE(why.sweep().ended(0).began());

  v1::RetryReply reply;
  const grpc::Status retried = Retry(RetryOf({"small"}, "again"), &reply);
  ASSERT_TRUE(retried.ok()) << retried.error_message();
  EXPECT_EQ(reply.queued(), 2);
  EXPECT_EQ(reply.targets(0).target(), "s1");
  EXPECT_EQ(reply.targets(0).finished(), 2);
  EXPECT_EQ(world_.Follow("s1").back().trials().at("succeeded"), 4);
  ASSERT_TRUE(Retry(RetryOf({"small"}, "again"), &reply).ok());
  EXPECT_EQ(reply.queued(), 2);
  ASSERT_TRUE(Retry(RetryOf({"small"}, "once more"), &reply).ok());
  EXPECT_EQ(reply.queued(), 0);
  const auto attempts = *world_.reader().ListAttempts({{{1}, 2}, 0});
  EXPECT_EQ(attempts.size(), 1U);
  ASSERT_TRUE(Explain("s1.1.0", &why).ok());
  EXPECT_THAT(why.trial().summary(),
              HasSubstr("succeeded in attempt s1.1.0@2: validation loss 1 "));
  EXPECT_EQ(why.trial().attempts_size(), 2);
  EXPECT_EQ(why.trial().attempts(0).kind(), "config");
}

TEST_F(SweepChanges, RetriesThatMakeNoSenseAreRefused) {
  Submit();
  v1::RetryReply reply;
  const auto code = [&](const v1::RetryRequest& request) {
    return Retry(request, &reply).error_code();
  };
  EXPECT_EQ(code(RetryOf({}, "r")), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code(RetryOf({"s1"}, "")), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code(RetryOf({"s1"}, std::string(129, 'r'))),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code(RetryOf({""}, "r")), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code(RetryOf(std::vector<std::string>(1001, "s1"), "r")),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code(RetryOf({"s1", "s2"}, "r")), StatusCode::NOT_FOUND);
  EXPECT_EQ(code(RetryOf({"s1.9"}, "r")), StatusCode::NOT_FOUND);
  EXPECT_EQ(code(RetryOf({"../../etc"}, "r")), StatusCode::NOT_FOUND);
  EXPECT_EQ(code(RetryOf({std::string("s1\0.1", 5)}, "r")),
            StatusCode::NOT_FOUND);
  EXPECT_EQ(code(RetryOf({"s1"}, "r1")), StatusCode::INVALID_ARGUMENT)
      << "the id of the submission";
}

TEST_F(SweepChanges, APausedSweepWaitsUntilItIsResumed) {
  Submit();
  v1::PauseRequest pause;
  pause.set_sweep("small");
  pause.set_request_id("p1");
  v1::PauseReply paused;
  ASSERT_TRUE(Pause(pause, &paused).ok());
  EXPECT_EQ(paused.sweep(), "s1");
  EXPECT_EQ(paused.state(), "paused");
  EXPECT_TRUE(paused.changed());
  EXPECT_EQ(paused.waiting(), 4);
  FakeAgent agent(world_.Channel(), RegisterMessage("n", 1));
  v1::ExplainReply why;
  ASSERT_TRUE(Explain("s1.1.0", &why).ok());
  EXPECT_THAT(why.trial().waiting_for(), HasSubstr("leadline resume s1"));
  ASSERT_TRUE(Explain("small", &why).ok());
  EXPECT_EQ(why.sweep().state(), "paused");
  EXPECT_THAT(why.sweep().summary(), HasSubstr("leadline resume s1"));

  v1::ResumeRequest resume;
  resume.set_sweep("s1");
  resume.set_request_id("q1");
  v1::ResumeReply resumed;
  ASSERT_TRUE(Resume(resume, &resumed).ok());
  EXPECT_TRUE(resumed.changed());
  EXPECT_EQ(world_.Follow("s1").back().trials().at("succeeded"), 4);
  pause.set_request_id("p2");
  ASSERT_TRUE(Pause(pause, &paused).ok());
  EXPECT_FALSE(paused.changed());
  EXPECT_EQ(paused.state(), "complete");
  resume.set_request_id("q2");
  ASSERT_TRUE(Resume(resume, &resumed).ok());
  EXPECT_FALSE(resumed.changed());
  EXPECT_EQ(resumed.state(), "complete");
}

TEST_F(SweepChanges, PausesOfNothingAreRefused) {
  v1::PauseReply paused;
  v1::ResumeReply resumed;
  for (const auto& [sweep, id, code] :
       {std::tuple{"s9", "p", StatusCode::NOT_FOUND},
        {"", "p", StatusCode::INVALID_ARGUMENT},
        {"s9", "", StatusCode::INVALID_ARGUMENT},
        {"no such name", "p", StatusCode::NOT_FOUND}}) {
    v1::PauseRequest pause;
    pause.set_sweep(sweep);
    pause.set_request_id(id);
    EXPECT_EQ(Pause(pause, &paused).error_code(), code) << sweep;
    v1::ResumeRequest resume;
    resume.set_sweep(sweep);
    resume.set_request_id(id);
    EXPECT_EQ(Resume(resume, &resumed).error_code(), code) << sweep;
  }
}

TEST_F(SweepChanges, StoppedTrialsAreSuspendedOnceTheirTrainerHasGone) {
  std::promise<void> trains;
  std::promise<v1::StopAttempt> told;
  std::promise<void> ended;
  FakeAgent agent(
      world_.Channel(), RegisterMessage("n", 2),
      [&](FakeAgent::Stream& stream, const v1::CoordinatorMessage& message) {
        if (message.has_start() && message.start().attempt().number() == 1 &&
            message.start().attempt().cohort() == "s1.1.c0") {
          v1::AgentMessage records;
          *records.mutable_records()->mutable_attempt() =
              message.start().attempt();
          v1::TrainerRecord& step = *records.mutable_records()->add_records();
          step.set_sequence(1);
          step.mutable_step()->set_step(3);
          stream.Write(records);
        } else if (message.has_ack()) {
          trains.set_value();
        } else if (message.has_stop()) {
          told.set_value(message.stop());
        } else if (message.has_ended_ack()) {
          ended.set_value();
        }
      });
  Submit();
  trains.get_future().wait();
  v1::CancelRequest cancel;
  cancel.set_target("s1.2");
  cancel.set_request_id("c1");
  v1::CancelReply cancelled;
  grpc::ClientContext context;
  // The second cell only disturbs: it ends before it has begun.
  ASSERT_TRUE(world_.Sweeps()->Cancel(&context, cancel, &cancelled).ok());
  v1::StopAttempt other = told.get_future().get();
  EXPECT_EQ(other.attempt().cohort(), "s1.2.c0");
  told = {};

  v1::ExplainReply why;
  ASSERT_TRUE(Explain("s1.1.1", &why).ok());
  EXPECT_EQ(why.trial().state(), "running");
  EXPECT_EQ(why.trial().live().node(), "n");
  EXPECT_EQ(why.trial().live().step(), 3);
  EXPECT_TRUE(why.trial().live().has_last_record_seconds());
  EXPECT_GT(why.trial().live().lease_seconds(), 0);
  v1::PauseRequest pause;
  pause.set_sweep("s1");
  pause.set_stop(true);
  pause.set_request_id("p1");
  v1::PauseReply paused;
  ASSERT_TRUE(Pause(pause, &paused).ok());
  EXPECT_EQ(paused.stopping(), 2);
  const v1::StopAttempt stop = told.get_future().get();
  EXPECT_EQ(stop.attempt().cohort(), "s1.1.c0");
  EXPECT_EQ(stop.attempt().number(), 1);
  EXPECT_EQ(world_.reader().GetTrial({{{1}, 1}, 0})->trial.state,
            TrialState::kRunning);
  v1::AgentMessage gone;
  *gone.mutable_ended()->mutable_attempt() = stop.attempt();
  gone.mutable_ended()->set_exit_code(1);
  gone.mutable_ended()->set_message("stopped: paused by command");
  agent.stream().Write(gone);
  ended.get_future().wait();
  EXPECT_EQ(world_.reader().GetTrial({{{1}, 1}, 0})->trial.state,
            TrialState::kSuspended);
  ASSERT_TRUE(Explain("s1.1.0", &why).ok());
  EXPECT_EQ(why.trial().attempts(0).outcome(), "preempted");
  EXPECT_EQ(why.trial().attempts(0).step(), 3);
  EXPECT_EQ(why.trial().attempts(0).stop_reason(), "paused by command");
  EXPECT_THAT(why.trial().summary(), HasSubstr("was stopped and waits"));
}

TEST_F(SweepChanges, ExplainTellsLateResultsAndWhatNeverBegan) {
  std::promise<v1::Attempt> given;
  std::promise<void> kept;
  FakeAgent agent(
      world_.Channel(), RegisterMessage("n", 1),
      [&](FakeAgent::Stream&, const v1::CoordinatorMessage& message) {
        if (message.has_start()) given.set_value(message.start().attempt());
        if (message.has_ack()) kept.set_value();
      });
  Submit();
  const v1::Attempt attempt = given.get_future().get();
  v1::CancelRequest cancel;
  cancel.set_target("s1");
  cancel.set_request_id("c1");
  v1::CancelReply cancelled;
  grpc::ClientContext context;
  ASSERT_TRUE(world_.Sweeps()->Cancel(&context, cancel, &cancelled).ok());
  v1::AgentMessage late;
  *late.mutable_records()->mutable_attempt() = attempt;
  v1::TrainerRecord& record = *late.mutable_records()->add_records();
  record.set_sequence(1);
  record.mutable_result()->mutable_result()->set_validation_loss(1.5);
  agent.stream().Write(late);
  kept.get_future().wait();

  v1::ExplainReply why;
  ASSERT_TRUE(Explain("s1.1.0", &why).ok());
  EXPECT_EQ(why.trial().orphan_records(), 1);
  ASSERT_EQ(why.trial().orphans_size(), 1);
  EXPECT_EQ(why.trial().orphans(0).attempt(), "s1.1.0@1");
  EXPECT_THAT(why.trial().orphans(0).text(), HasSubstr("1.5"));
  EXPECT_EQ(why.trial().attempts(0).orphans(), 1);
  EXPECT_TRUE(why.trial().began());
  EXPECT_FALSE(why.trial().has_result());
  ASSERT_TRUE(Explain("s1.2.1", &why).ok());
  EXPECT_FALSE(why.trial().began());
  EXPECT_THAT(why.trial().summary(), HasSubstr("cancelled before it began"));
  ASSERT_TRUE(Explain("s1", &why).ok());
  EXPECT_EQ(why.sweep().orphan_attempts(), 1);
  ASSERT_EQ(why.sweep().ended_size(), 2);
  EXPECT_NE(why.sweep().ended(0).began(), why.sweep().ended(1).began());
}

TEST_F(SweepChanges, ExplainRefusesWhatIsNoSweepAndNoTrial) {
  Submit();
  v1::ExplainReply reply;
  EXPECT_EQ(Explain("", &reply).error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Explain("s1.1", &reply).error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Explain("s9", &reply).error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(Explain("s1.1.9", &reply).error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(Explain(std::string(100'000, 'x'), &reply).error_code(),
            StatusCode::NOT_FOUND);
  ASSERT_TRUE(Explain("s1", &reply).ok());
  EXPECT_EQ(reply.sweep().summary(), "no live agents, 4 queued");
}

}  // namespace
}  // namespace leadline
