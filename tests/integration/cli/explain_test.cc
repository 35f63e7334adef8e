// leadline explain, and what other commands tell of failures and orphans.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands_fixture.h"

namespace leadline::cli_test {
namespace {

using grpc::Status;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

v1::ExplainReply WaitingTrial() {
  v1::ExplainReply reply;
  v1::TrialExplanation& trial = *reply.mutable_trial();
  trial.set_trial("s1.3.0");
  trial.set_sweep("s1");
  trial.set_sweep_state("active");
  trial.set_state("queued");
  trial.set_summary("waits: attempt 1 failed (crash: signal 9)");
  trial.set_waiting_for("attempt 1 failed (crash: signal 9)");
  trial.set_retry_in_seconds(11.2);
  trial.set_retry_at("2026-11-29T15:04:05Z");
  trial.set_cohort("s1.3.c0");
  trial.add_cohort_trials("s1.3.0");
  trial.set_began(true);
  trial.set_failures(1);
  trial.set_tries(3);
  trial.set_failures_in_total(2);
  trial.set_tries_in_total(8);
  v1::AttemptSummary& attempt = *trial.add_attempts();
  attempt.set_attempt("s1.3.0@1");
  attempt.set_node("n\x1b[2J");
  attempt.set_outcome("failed");
  attempt.set_kind("crash");
  attempt.set_step(1200);
  attempt.set_orphans(2);
  attempt.set_message("signal 9\nat night");
  v1::OrphanSummary& orphan = *trial.add_orphans();
  orphan.set_attempt("s1.3.0@1");
  orphan.set_sequence(7);
  orphan.set_text("result validation_loss=1.5");
  trial.set_orphan_records(2);
  return reply;
}

TEST_F(Commands, ExplainTellsWhatWasTriedAndWhenItIsTriedAgain) {
  answers_.explain = [](const v1::ExplainRequest& request, auto* reply) {
    EXPECT_EQ(request.target(), "s1.3.0");
    *reply = WaitingTrial();
    return Status::OK;
  };
  const Ended ended = Run({"explain", "s1.3.0"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  for (const char* part :
       {"s1.3.0: queued\n", "waits: attempt 1 failed (crash: signal 9)\n",
        "tried again in 12 s, at 2026-11-29T15:04:05Z",
        "tries used up: 1 of 3 in a row, 2 of 8 in all", "signal 9\\nat night",
        "1,200", "n\\x1b[2J",
        "orphans: 2 records of attempts that counted no more",
        "s1.3.0@1 #7: result validation_loss=1.5", "1 of 2\n"}) {
    EXPECT_THAT(ended.out, HasSubstr(part));
  }
  const json trial = RunJson({"explain", "s1.3.0"});
  EXPECT_EQ(trial["retry_in_seconds"], 11.2);
  EXPECT_EQ(trial["attempt_list"][0]["step"], 1200);
  EXPECT_EQ(trial["attempt_list"][0]["kind"], "crash");
  EXPECT_EQ(trial["orphans"][0]["sequence"], 7);
  EXPECT_TRUE(trial["live"].is_null());
  EXPECT_TRUE(trial["validation_loss"].is_null());
}

TEST_F(Commands, ExplainTellsOfALiveAttempt) {
  answers_.explain = [](const auto&, auto* reply) {
    v1::TrialExplanation& trial = *reply->mutable_trial();
    trial.set_trial("s1.1.0");
    trial.set_state("unreachable");
    v1::LiveAttemptNow& live = *trial.mutable_live();
    live.set_number(2);
    live.set_node("n");
    live.add_devices("cpu:0");
    live.set_state("unreachable");
    live.set_lease_seconds(-20);
    live.set_given_up_in_seconds(10);
    live.set_step(7);
    live.set_steps(5000);
    live.set_stop_reason("paused by command");
    return Status::OK;
  };
  const std::string out = Run({"explain", "s1.1.0"}).out;
  EXPECT_THAT(out, HasSubstr("attempt 2 on n (cpu:0), unreachable"));
  EXPECT_THAT(out, HasSubstr("step 7 of 5,000"));
  EXPECT_THAT(out, HasSubstr("last record none yet"));
  EXPECT_THAT(out, HasSubstr("lease ended 20 s ago, given up in 10 s"));
  EXPECT_THAT(out, HasSubstr("asked to stop: paused by command"));
  EXPECT_THAT(out, HasSubstr("attempts: none yet"));
  const json live = RunJson({"explain", "s1.1.0"})["live"];
  EXPECT_EQ(live["lease_seconds"], -20.0);
  EXPECT_TRUE(live["last_record_seconds"].is_null());
}

TEST_F(Commands, ExplainOfASweepGroupsItsTrials) {
  answers_.explain = [](const auto&, auto* reply) {
    v1::SweepExplanation& sweep = *reply->mutable_sweep();
    sweep.set_sweep("s1");
    sweep.set_name("depth study");
    sweep.set_state("active");
    sweep.set_summary("no live agents, 12 queued");
    sweep.set_planned(16);
    (*sweep.mutable_trials())["queued"] = 12;
    (*sweep.mutable_trials())["cancelled"] = 3;
    (*sweep.mutable_trials())["failed"] = 1;
    v1::WaitingTrials& waiting = *sweep.add_waiting();
    waiting.set_state("queued");
    waiting.set_reason("no agent is connected");
    waiting.set_trials(12);
    waiting.set_first("s1.1.0");
    v1::EndedTrials& ended = *sweep.add_ended();
    ended.set_state("cancelled");
    ended.set_reason("limits.failures");
    ended.set_trials(3);
    ended.set_first("s1.5.0");
    v1::FailuresOfKind& failures = *sweep.add_failures();
    failures.set_kind("oom");
    failures.set_attempts(2);
    failures.set_trials(1);
    sweep.set_orphan_attempts(1);
    sweep.set_orphan_records(4);
    return Status::OK;
  };
  const std::string out = Run({"explain", "depth"}).out;
  for (const char* part :
       {"no live agents, 12 queued\n",
        "16 trials: 12 queued, 1 failed, 3 cancelled; 0 live agents",
        "12 trials queued (s1.1.0, ...): no agent is connected",
        "3 trials cancelled before it began (s1.5.0, ...): limits.failures",
        "2 attempts of kind oom, of 1 trial; leadline show s1 --failed-kind "
        "oom",
        "orphans: 4 records of 1 attempt"}) {
    EXPECT_THAT(out, HasSubstr(part));
  }
  const json sweep = RunJson({"explain", "depth"});
  EXPECT_EQ(sweep["trials"].size(), 9U);
  EXPECT_EQ(sweep["ended"][0]["began"], false);
  EXPECT_TRUE(sweep["waiting"][0]["retry_in_seconds"].is_null());
}

TEST_F(Commands, ExplainOfWhatIsNotThereIsNotFound) {
  answers_.explain = [](const auto&, auto*) {
    return Status(grpc::StatusCode::NOT_FOUND, "no trial s9.1.0");
  };
  EXPECT_EQ(Run({"explain", "s9.1.0"}).exit_code, 6);
  RunJsonError({"explain", "s9.1.0"}, 6);
}

TEST_F(Commands, ListsAreNarrowedToAKindOfFailure) {
  answers_.list_sweeps = [](const v1::ListSweepsRequest& request, auto* reply) {
    if (request.failed_kind() == "oom") {
      reply->add_sweeps()->set_sweep("s3");
      reply->set_total(1);
    } else if (request.failed_kind().empty()) {
      reply->add_sweeps()->set_sweep("s3");
      reply->set_total(9);
    }
    return Status::OK;
  };
  answers_.list_trials = [](const v1::ListTrialsRequest& request, auto* reply) {
    EXPECT_EQ(request.failed_kind(), "oom");
    auto* trial = reply->add_trials();
    trial->set_trial("s3.1.0");
    trial->set_failed_kind("oom");
    reply->set_total(1);
    reply->set_sweep("s3");
    return Status::OK;
  };
  EXPECT_EQ(RunJson({"ls", "--failed-kind", "oom"})["total"], 1);
  EXPECT_THAT(Run({"ls", "--failed-kind", "hang"}).out,
              HasSubstr("no sweep is like that"));
  EXPECT_THAT(Run({"show", "s3", "--failed-kind", "oom"}).out,
              HasSubstr("oom"));
  EXPECT_EQ(RunJson({"show", "s3", "--failed-kind",
                     "oom"})["trial_list"][0]["failed_kind"],
            "oom");
}

TEST_F(Commands, WhatWasCancelledBeforeItBeganIsToldApart) {
  answers_.list_sweeps = [](const auto&, auto* reply) {
    auto* sweep = reply->add_sweeps();
    sweep->set_sweep("s1");
    sweep->set_cancelled(5);
    sweep->set_never_began(3);
    reply->set_total(1);
    return Status::OK;
  };
  answers_.list_trials = [](const auto&, auto* reply) {
    for (int64_t i : {0, 1}) {
      auto* trial = reply->add_trials();
      trial->set_trial("s1.1." + std::to_string(i));
      trial->set_state("cancelled");
      trial->set_attempts(i);
    }
    reply->set_total(2);
    reply->set_sweep("s1");
    return Status::OK;
  };
  const std::string out = Run({"show", "s1"}).out;
  EXPECT_THAT(out, HasSubstr("5 cancelled (3 before they began)"));
  EXPECT_THAT(out, HasSubstr("cancelled before it began"));
  const json shown = RunJson({"show", "s1"});
  EXPECT_EQ(shown["never_began"], 3);
  EXPECT_EQ(shown["trial_list"][0]["began"], false);
  EXPECT_EQ(shown["trial_list"][1]["began"], true);
}

TEST_F(Commands, ShowAndResultsSayThatThereAreOrphans) {
  answers_.show_trial = [](const auto&, v1::ShowTrialReply* reply) {
    reply->mutable_trial()->set_trial("s1.1.0");
    auto* attempt = reply->add_attempts();
    attempt->set_attempt("s1.1.0@1");
    attempt->set_orphans(4);
    attempt->set_kind("agent_lost");
    reply->set_orphan_records(4);
    return Status::OK;
  };
  int64_t orphans = 4;
  answers_.results = [&](const auto&, auto*, auto* writer) {
    v1::ResultsPart part;
    part.mutable_header()->set_sweep("s1");
    part.mutable_header()->set_metric("validation_loss");
    part.mutable_header()->set_cancelled(2);
    part.mutable_header()->set_never_began(1);
    part.mutable_header()->set_orphan_records(orphans);
    part.mutable_header()->set_orphan_attempts(1);
    writer->Write(part);
    return Status::OK;
  };
  EXPECT_THAT(Run({"show", "s1.1.0"}).out,
              HasSubstr("orphans: 4 records came too late; leadline explain "
                        "s1.1.0 lists them"));
  EXPECT_EQ(RunJson({"show", "s1.1.0"})["attempt_list"][0]["orphans"], 4);
  const std::string out = Run({"results", "s1"}).out;
  EXPECT_THAT(out, HasSubstr("4 records of 1 attempt came too late and are "
                             "part of no figure; leadline explain s1"));
  EXPECT_THAT(out,
              HasSubstr("2 trials cancelled, 1 of them before they began"));
  EXPECT_EQ(RunJson({"results", "s1"})["orphan_records"], 4);
  orphans = 0;
  EXPECT_THAT(Run({"results", "s1"}).out, Not(HasSubstr("too late")));
}

TEST_F(Commands, ShowSaysHowFarAStepRepeats) {
  const std::vector<std::pair<std::string, std::string>> words = {
      {"bit_exact", "gave the same bits\n"},
      {"within_tolerance", "differed by rounding\n"},
      {"differs", "gave other numbers; see the trainer's log\n"},
      {"unknown", "not measured\n"},
      {"", "not measured\n"}};
  for (const auto& [word, text] : words) {
    answers_.show_trial = [&](const auto&, v1::ShowTrialReply* reply) {
      reply->mutable_result()->set_determinism(word);
      return Status::OK;
    };
    EXPECT_THAT(Run({"show", "s1.1.0"}).out, HasSubstr(text));
    EXPECT_EQ(RunJson({"show", "s1.1.0"})["result"]["determinism"], word);
  }
}

}  // namespace
}  // namespace leadline::cli_test
