#include <limits>

#include <gmock/gmock.h>

#include "coordinator/rpc/results_pages.h"
#include "tests/unit/coordinator/rpc/results_world.h"

namespace leadline::rpc {
namespace {

using ::testing::HasSubstr;

constexpr auto kInvalid = grpc::StatusCode::INVALID_ARGUMENT;
constexpr auto kNotFound = grpc::StatusCode::NOT_FOUND;

TEST(ChooseMetric, SaysWhatWasAskedForAndWhatThereIs) {
  const auto refusal = [](const char* metric, const char* split) {
    return std::string(ChooseMetric(metric, split).status().message());
  };
  const std::string choices =
      "; choose validation_loss or best_validation_loss of split validation, "
      "or test_loss of split test";
  EXPECT_EQ(refusal("nope", ""), "no metric \"nope\"" + choices);
  EXPECT_EQ(refusal("", "train"), "no split \"train\"" + choices);
  EXPECT_EQ(refusal("test_loss", "validation"),
            "no metric \"test_loss\" of split \"validation\"" + choices);
}

TEST_F(ResultsServiceTest, SweepsAreSummarisedNewestFirst) {
  FinishFirstCell();
  ASSERT_TRUE(test::CommitOne(store(), test::MakeSweep(2, 1, 1)).ok());
  v1::ListSweepsReply reply;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->ListSweeps(&context, {}, &reply).ok());
  EXPECT_EQ(reply.total(), 2);
  ASSERT_EQ(reply.sweeps_size(), 2);
  const v1::SweepSummary& sweep = reply.sweeps(1);
  EXPECT_EQ(sweep.sweep(), "s1");
  EXPECT_EQ(sweep.state(), "active");
  EXPECT_EQ(sweep.submitted_at(), "2025-11-29T15:04:05Z");
  EXPECT_EQ(sweep.cells(), 2);
  EXPECT_EQ(sweep.trials(), 4);
  EXPECT_EQ(sweep.succeeded(), 2);
  EXPECT_EQ(sweep.queued(), 2);
}

TEST_F(ResultsServiceTest, LongDescriptionsDoNotFillAMessage) {
  for (int64_t number = 1; number <= 1000; ++number) {
    storage::AddSweep add = test::MakeSweep(number, 1, 1);
    add.sweep.description = std::string(100'000, 'x');
    ASSERT_TRUE(test::CommitOne(store(), add).ok());
  }
  v1::ListSweepsRequest request;
  request.set_limit(1000);
  v1::ListSweepsReply reply;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->ListSweeps(&context, request, &reply).ok());
  EXPECT_LT(reply.ByteSizeLong(), size_t{1} << 20);
  EXPECT_GT(reply.sweeps_size(), 100);
  request.set_limit(-1);
  grpc::ClientContext again;
  EXPECT_EQ(stub_->ListSweeps(&again, request, &reply).error_code(), kInvalid);
}

grpc::Status List(v1::ResultsService::Stub& stub, const std::string& target,
                  const std::string& after, int64_t limit,
                  v1::ListTrialsReply& reply) {
  v1::ListTrialsRequest request;
  request.set_target(target);
  request.set_after(after);
  request.set_limit(limit);
  grpc::ClientContext context;
  return stub.ListTrials(&context, request, &reply);
}

TEST_F(ResultsServiceTest, TrialsArePagedThroughSweepOrCell) {
  FinishFirstCell();
  v1::ListTrialsReply reply;
  ASSERT_TRUE(List(*stub_, "depth", "", 3, reply).ok());
  EXPECT_EQ(reply.total(), 4);
  EXPECT_EQ(reply.sweep(), "s1");
  ASSERT_EQ(reply.trials_size(), 3);
  EXPECT_EQ(reply.trials(1).trial(), "s1.1.1");
  EXPECT_EQ(reply.trials(1).validation_loss(), 2.0);
  EXPECT_FALSE(reply.trials(2).has_validation_loss());
  ASSERT_TRUE(List(*stub_, "", "s1.2.0", 3, reply).ok());
  ASSERT_EQ(reply.trials_size(), 1);
  ASSERT_TRUE(List(*stub_, "s1.2", "", 0, reply).ok());
  EXPECT_EQ(reply.total(), 2);
  EXPECT_EQ(reply.trials_size(), 2);
  EXPECT_EQ(List(*stub_, "s1.9", "", 0, reply).error_code(), kNotFound);
  EXPECT_EQ(List(*stub_, "s1.1.0", "", 0, reply).error_code(), kInvalid);
  EXPECT_EQ(List(*stub_, "s1", "s1.1", 0, reply).error_code(), kInvalid);
  EXPECT_EQ(List(*stub_, "s1", "", -1, reply).error_code(), kInvalid);
}

TEST_F(ResultsServiceTest, ATrialShowsItsSettingsAttemptsAndResult) {
  FinishFirstCell();
  v1::TrialRequest request;
  request.set_trial("s1.1.1");
  v1::ShowTrialReply reply;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->ShowTrial(&context, request, &reply).ok());
  EXPECT_EQ(reply.cohort(), "s1.1.c0");
  EXPECT_THAT(reply.cohort_trials(),
              ::testing::ElementsAre("s1.1.0", "s1.1.1"));
  EXPECT_EQ(reply.settings().at("depth").integer(), 4);
  EXPECT_EQ(reply.settings().at("lr").number(), 0.001);
  EXPECT_EQ(reply.settings().at("method").word(), "wav");
  EXPECT_EQ(reply.dataset().content_hash(), "abc");
  ASSERT_EQ(reply.attempts_size(), 1);
  EXPECT_EQ(reply.attempts(0).attempt(), "s1.1.1@1");
  EXPECT_EQ(reply.attempts(0).outcome(), "live");
  EXPECT_EQ(reply.attempts(0).ended_at(), "");
  EXPECT_EQ(reply.result().validation_loss(), 2.0);
  EXPECT_EQ(reply.cell_hash(), "cell1");
}

TEST_F(ResultsServiceTest, WhatIsNoTrialIsToldFromATrialThatIsNot) {
  FinishFirstCell();
  v1::TrialRequest request;
  v1::ShowTrialReply reply;
  for (const auto& [text, code] : {std::pair{"s1.1.9", kNotFound},
                                   {"s1.1", kInvalid},
                                   {"s01.1.1", kInvalid},
                                   {"", kInvalid}}) {
    request.set_trial(text);
    grpc::ClientContext context;
    EXPECT_EQ(stub_->ShowTrial(&context, request, &reply).error_code(), code)
        << text;
  }
}

TEST_F(ResultsServiceTest, ListsAreNarrowedToAKindOfFailure) {
  FinishFirstCell();
  ASSERT_TRUE(test::CommitOne(store(), test::MakeSweep(2, 1, 1)).ok());
  const AttemptKey attempt = test::Attempt(1, 2, 1);
  ASSERT_TRUE(test::CommitOne(store(), test::Start(attempt)).ok());
  ASSERT_TRUE(
      test::CommitOne(
          store(),
          storage::EndAttempt{
              attempt, AttemptOutcome::kFailed, FailureKind::kOom, "", {}})
          .ok());
  v1::ListSweepsRequest sweeps;
  sweeps.set_failed_kind("oom");
  v1::ListSweepsReply found;
  grpc::ClientContext first;
  ASSERT_TRUE(stub_->ListSweeps(&first, sweeps, &found).ok());
  EXPECT_EQ(found.total(), 1);
  ASSERT_EQ(found.sweeps_size(), 1);
  EXPECT_EQ(found.sweeps(0).sweep(), "s1");
  v1::ListTrialsRequest trials;
  trials.set_target("s1");
  trials.set_failed_kind("oom");
  v1::ListTrialsReply reply;
  grpc::ClientContext second;
  ASSERT_TRUE(stub_->ListTrials(&second, trials, &reply).ok());
  EXPECT_EQ(reply.total(), 2);
  ASSERT_EQ(reply.trials_size(), 2);
  EXPECT_EQ(reply.trials(0).trial(), "s1.2.0");
  EXPECT_EQ(reply.trials(0).failed_kind(), "oom");
  for (const char* none : {"preempted", "OOM", "oom "}) {
    trials.set_failed_kind(none);
    sweeps.set_failed_kind(none);
    grpc::ClientContext third;
    EXPECT_EQ(stub_->ListTrials(&third, trials, &reply).error_code(), kInvalid);
    grpc::ClientContext fourth;
    EXPECT_EQ(stub_->ListSweeps(&fourth, sweeps, &found).error_code(),
              kInvalid);
  }
}

TEST_F(ResultsServiceTest, OrphansAndWhatNeverBeganAreTold) {
  FinishFirstCell();
  const AttemptKey attempt = test::Attempt(1, 1, 1);
  ASSERT_TRUE(
      test::CommitOne(store(), storage::KeepOrphan{{attempt, 9, "late"}}).ok());
  ASSERT_TRUE(
      test::CommitOne(
          store(), storage::MoveTrial{test::Trial(1, 2, 0), TrialState::kQueued,
                                      TrialState::kCancelled, "why"})
          .ok());
  v1::TrialRequest request;
  request.set_trial("s1.1.1");
  v1::ShowTrialReply shown;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->ShowTrial(&context, request, &shown).ok());
  EXPECT_EQ(shown.orphan_records(), 1);
  EXPECT_EQ(shown.attempts(0).orphans(), 1);
  std::vector<v1::ResultsPart> parts;
  ASSERT_TRUE(Results({}, parts).ok());
  const v1::ResultsHeader& header = parts.front().header();
  EXPECT_EQ(header.cancelled(), 1);
  EXPECT_EQ(header.never_began(), 1);
  EXPECT_EQ(header.orphan_attempts(), 1);
  EXPECT_EQ(header.orphan_records(), 1);
  EXPECT_EQ(header.state(), "active");
}

std::string ConfigOf(v1::ResultsService::Stub& stub, const std::string& trial) {
  v1::TrialRequest request;
  request.set_trial(trial);
  v1::TrainerConfigReply reply;
  grpc::ClientContext context;
  const grpc::Status status = stub.TrainerConfig(&context, request, &reply);
  return status.ok() ? reply.json() : status.error_message();
}

TEST_F(ResultsServiceTest, ConfigHoldsAllSeedsAsTheyRan) {
  FinishFirstCell();
  storage::AttemptRecord said;
  said.key = test::Attempt(1, 1, 1);
  said.device = "cuda:0";
  said.dataset_path = "/agent/data/grammar16.txt";
  said.threads = 3;
  ASSERT_TRUE(test::CommitOne(store(), storage::DescribeAttempt{said}).ok());
  const std::string ran = ConfigOf(*stub_, "s1.1.1");
  EXPECT_THAT(ran, HasSubstr("\"seeds\":[0,10]"));
  EXPECT_THAT(ran, HasSubstr("\"device\":\"cuda:0\""));
  EXPECT_THAT(ran, HasSubstr("\"path\":\"/agent/data/grammar16.txt\""));
  EXPECT_THAT(ran, HasSubstr("\"threads\":3"));
  EXPECT_THAT(ran, HasSubstr("\"lr\":0.001"));
  EXPECT_THAT(ran, HasSubstr("\"folder\":null"));
  const std::string waits = ConfigOf(*stub_, "s1.2.0");
  EXPECT_THAT(waits, HasSubstr("\"device\":\"cpu\""));
  EXPECT_THAT(waits, HasSubstr("\"seeds\":[0,10]"));
  EXPECT_THAT(ConfigOf(*stub_, "s1.7.0"), HasSubstr("no trial s1.7.0"));
}

TEST_F(ResultsServiceTest, ConfigFollowsTheAttemptThatGaveTheResult) {
  FinishFirstCell();
  const AttemptKey first = test::Attempt(1, 1, 1);
  storage::AttemptRecord said;
  said.key = first;
  said.device = "cpu";
  ASSERT_TRUE(test::CommitOne(store(), storage::DescribeAttempt{said}).ok());
  ASSERT_TRUE(
      test::CommitOne(
          store(),
          storage::EndAttempt{first, AttemptOutcome::kSucceeded, {}, "", {}})
          .ok());
  storage::StartAttempt second = test::Start(test::Attempt(1, 1, 2));
  second.attempt.device = "cuda:0";
  ASSERT_TRUE(test::CommitOne(store(), second).ok());
  EXPECT_THAT(ConfigOf(*stub_, "s1.1.0"), HasSubstr("\"device\":\"cpu\""));
}

TEST_F(ResultsServiceTest, CurvesArePagedAndKeepSpecialValues) {
  FinishFirstCell();
  const double inf = std::numeric_limits<double>::infinity();
  const TrialId trial = test::Trial(1, 1, 0);
  ASSERT_TRUE(test::CommitOne(
                  store(), storage::AddPoints{test::Attempt(1, 1, 1),
                                              {{trial, "train_loss", 0, 3.0},
                                               {trial, "train_loss", 10, inf},
                                               {trial, "train_loss", 20, 1.0}}})
                  .ok());
  v1::CurveRequest request;
  request.set_trial("s1.1.0");
  request.set_metric("train_loss");
  request.set_after_step(-1);
  request.set_limit(2);
  v1::CurveReply reply;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->Curve(&context, request, &reply).ok());
  EXPECT_THAT(reply.steps(), ::testing::ElementsAre(0, 10));
  EXPECT_EQ(reply.values(1), inf);
  request.set_after_step(10);
  grpc::ClientContext rest;
  ASSERT_TRUE(stub_->Curve(&rest, request, &reply).ok());
  EXPECT_THAT(reply.steps(), ::testing::ElementsAre(20));
  request.clear_metric();
  grpc::ClientContext none;
  EXPECT_EQ(stub_->Curve(&none, request, &reply).error_code(), kInvalid);
}

TEST_F(ResultsServiceTest, RoutingIsTheLastOrThatOfAStep) {
  FinishFirstCell();
  const TrialId trial = test::Trial(1, 1, 0);
  for (const int64_t step : {250, 300}) {
    storage::RoutingRecord routing{trial, step, {}, {}};
    routing.map.push_back({{"e"}, {1.0}});
    routing.map.push_back({{"e", "u0"}, {0.25, 0.75}});
    routing.statistics["route.entropy"] = {0.0, 0.56};
    ASSERT_TRUE(
        test::CommitOne(store(),
                        storage::AddRouting{test::Attempt(1, 1, 1), routing})
            .ok());
  }
  v1::RoutingRequest request;
  request.set_trial("s1.1.0");
  v1::RoutingReply reply;
  grpc::ClientContext last;
  ASSERT_TRUE(stub_->Routing(&last, request, &reply).ok());
  EXPECT_EQ(reply.step(), 300);
  ASSERT_EQ(reply.map_size(), 2);
  EXPECT_EQ(reply.map(1).router(), 1);
  EXPECT_EQ(reply.map(1).sources(1), "u0");
  EXPECT_EQ(reply.map(1).weights(1), 0.75);
  EXPECT_EQ(reply.statistics(0).name(), "route.entropy");
  request.set_step(250);
  grpc::ClientContext earlier;
  ASSERT_TRUE(stub_->Routing(&earlier, request, &reply).ok());
  EXPECT_EQ(reply.step(), 250);
  request.set_trial("s1.1.1");
  grpc::ClientContext none;
  EXPECT_EQ(stub_->Routing(&none, request, &reply).error_code(), kNotFound);
}

TEST_F(ResultsServiceTest, RoutingTooLargeForAMessageIsRefused) {
  FinishFirstCell();
  storage::RoutingRecord routing{test::Trial(1, 1, 0), 300, {}, {}};
  for (int router = 0; router < 513; ++router) {
    routing.map.push_back(
        {std::vector<std::string>(513, "u100"), std::vector<double>(513, 0.5)});
  }
  ASSERT_TRUE(test::CommitOne(
                  store(), storage::AddRouting{test::Attempt(1, 1, 1), routing})
                  .ok());
  v1::RoutingRequest request;
  request.set_trial("s1.1.0");
  v1::RoutingReply reply;
  grpc::ClientContext context;
  const grpc::Status refused = stub_->Routing(&context, request, &reply);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("view routing"));
}

}  // namespace
}  // namespace leadline::rpc
