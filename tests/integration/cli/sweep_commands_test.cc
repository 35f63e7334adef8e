// Commands about what is to run: submit, plan, cancel.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands_fixture.h"

namespace leadline::cli_test {
namespace {

using grpc::Status;
using grpc::StatusCode;
using nlohmann::json;
using ::testing::HasSubstr;

TEST_F(Commands, SubmitPrintsEveryProblemOfTheFile) {
  answers_.submit = [](const v1::SubmitRequest&, auto*) {
    v1::Problems problems;
    for (int line : {2, 5}) {
      auto* problem = problems.add_problems();
      problem->set_line(line);
      problem->set_column(3);
      problem->set_message("found 'x', expected a number");
    }
    return Status(StatusCode::INVALID_ARGUMENT, "refused",
                  problems.SerializeAsString());
  };
  const Ended ended = Run({"submit", sweep_file_});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.err, sweep_file_ + ":2:3: found 'x', expected a number\n" +
                           sweep_file_ +
                           ":5:3: found 'x', expected a number\n");
  const json error = RunJsonError({"submit", sweep_file_}, 2);
  EXPECT_EQ(error["where"], sweep_file_ + ":2:3");
  EXPECT_EQ(error["problems"].size(), 2U);
}

TEST_F(Commands, SubmitSendsTheFileAndAsksForNoWork) {
  v1::SubmitRequest seen;
  answers_.attach_reply.set_is_private(true);
  answers_.submit = [&](const v1::SubmitRequest& request,
                        v1::SubmitReply* reply) {
    seen = request;
    reply->set_sweep("s7");
    reply->set_name("depth\x1bstudy 深さ");
    reply->set_cells(12);
    reply->set_trials(24);
    return Status::OK;
  };
  const Ended ended = Run({"submit", sweep_file_, "--new", "--yes-really"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out,
            "s7 depth\\x1bstudy 深さ: new, 12 cells, 24 trials\n"
            "leadline run " +
                sweep_file_ + " trains it\n");
  EXPECT_EQ(seen.text(), "leadline: 1\n");
  EXPECT_EQ(seen.base_folder(), folder_.string());
  EXPECT_TRUE(seen.make_new());
  EXPECT_TRUE(seen.yes_really());
  EXPECT_EQ(seen.request_id().size(), 32U);
  ASSERT_EQ(attached_.size(), 1U);
  EXPECT_FALSE(attached_[0].wants_work());
  EXPECT_EQ(attached_[0].client(), "leadline submit");

  const Ended ascii = Run({"submit", sweep_file_}, "C");
  EXPECT_THAT(ascii.out, HasSubstr("depth\\x1bstudy \\u{6df1}\\u{3055}: new"));
  EXPECT_EQ(RunJson({"submit", sweep_file_})["sweep"], "s7");
}

TEST_F(Commands, SubmitOfWhatHasEndedPointsToTheTable) {
  answers_.attach_reply.set_is_private(true);
  answers_.submit = [](const auto&, v1::SubmitReply* reply) {
    reply->set_sweep("s1");
    reply->set_existing(true);
    return Status::OK;
  };
  std::string state = "complete";
  answers_.list_sweeps = [&](const auto&, v1::ListSweepsReply* reply) {
    auto* sweep = reply->add_sweeps();
    sweep->set_sweep("s1");
    sweep->set_state(state);
    return Status::OK;
  };
  EXPECT_THAT(Run({"submit", sweep_file_}).out,
              HasSubstr("it is complete: leadline results s1 prints the table, "
                        "--new makes another sweep\n"));
  state = "active";
  EXPECT_THAT(Run({"submit", sweep_file_}).out,
              HasSubstr("leadline run " + sweep_file_ + " trains it\n"));
}

TEST_F(Commands, SubmitAsksAgainWithOneRequestId) {
  std::vector<std::string> ids;
  answers_.submit = [&](const v1::SubmitRequest& request,
                        v1::SubmitReply* reply) {
    ids.push_back(request.request_id());
    if (ids.size() == 1) return Status(StatusCode::UNAVAILABLE, "lost");
    reply->set_sweep("s1");
    return Status::OK;
  };
  EXPECT_EQ(Run({"submit", sweep_file_}).exit_code, 0);
  ASSERT_EQ(ids.size(), 2U);
  EXPECT_EQ(ids[0], ids[1]);
}

TEST_F(Commands, PlanListsCellsAndCountsRules) {
  answers_.plan = [](const v1::SubmitRequest&, auto*, auto* writer) {
    v1::PlanPart part;
    v1::PlanCounts* counts = part.mutable_counts();
    counts->set_name("study");
    counts->set_cells(2);
    counts->set_trials(6);
    counts->set_seeds(3);
    counts->set_duplicates(0);
    counts->set_cells_listed(true);
    counts->set_flops(6e12);
    counts->set_memory_bytes(int64_t{3} << 30);
    auto* axis = counts->add_axes();
    axis->set_key("depth");
    axis->set_values(2);
    auto* rule = counts->add_rules();
    rule->set_rule("when[0]");
    rule->set_cells(1);
    writer->Write(part);
    v1::PlanPart cells;
    for (int number : {1, 2}) {
      auto* cell = cells.mutable_cells()->add_cells();
      cell->set_number(number);
      cell->set_depth(12 * number);
      cell->set_dataset("text8");
      cell->set_method("wav(rho=2)");
      cell->set_trials(3);
      cell->set_parameters(12596224);
      cell->set_flops(1e12);
      cell->set_cohort(3);
      cell->set_memory_bytes(int64_t{number + 1} << 30);
      cell->set_without_embedding(number == 2);
    }
    writer->Write(cells);
    return Status::OK;
  };
  const Ended ended = Run({"plan", sweep_file_});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(
      ended.out,
      "study: 2 cells, 6 trials (3 seeds each)\n"
      "  axis depth: 2 values\n"
      "  when[0]: matches 1 cell\n"
      "  excluded 0, duplicates 0, reused 0\n"
      "  all trials together 6.00 TFLOP\n"
      "  largest trainer 3.00 GiB of tensors\n"
      "\n"
      "cell  depth  dataset  method      trials  parameters  FLOPs a trial  "
      "memory an attempt\n"
      "   1     12  text8    wav(rho=2)       3       12.6M     1.00 TFLOP  "
      "         2.00 GiB\n"
      "   2     24  text8    wav(rho=2)       3     12.6M *   1.00 TFLOP *  "
      "       3.00 GiB *\n"
      "* without the embedding: the vocabulary is known once the data is "
      "there\n");
  const json plan = RunJson({"plan", sweep_file_});
  EXPECT_EQ(plan["trials"], 6);
  EXPECT_EQ(plan["memory_bytes"], int64_t{3} << 30);
  EXPECT_EQ(plan["per_cell"][0]["parameters"], 12596224);
  EXPECT_EQ(plan["per_cell"][0]["memory_bytes"], int64_t{2} << 30);
  EXPECT_EQ(plan["per_cell"][0]["cohort"], 3);
}

TEST_F(Commands, PlanOfSeveralRanksCountsTheMemoryOfEach) {
  answers_.plan = [](const v1::SubmitRequest&, auto*, auto* writer) {
    v1::PlanPart part;
    part.mutable_counts()->set_cells_listed(true);
    writer->Write(part);
    v1::PlanPart cells;
    auto* cell = cells.mutable_cells()->add_cells();
    cell->set_ranks(2);
    cell->set_memory_bytes(int64_t{2} << 30);
    writer->Write(cells);
    return Status::OK;
  };
  const std::string plan = Run({"plan", sweep_file_}).out;
  EXPECT_THAT(plan, HasSubstr("  ranks  trials  "));
  EXPECT_THAT(plan, HasSubstr("memory a rank\n"));
  EXPECT_THAT(plan, HasSubstr("     2.00 GiB\n"));
}

TEST_F(Commands, PlanOfAHugeSweepIsCountsAlone) {
  answers_.plan = [](const v1::SubmitRequest&, auto*, auto* writer) {
    v1::PlanPart part;
    part.mutable_counts()->set_name("huge");
    part.mutable_counts()->set_cells(250000000);
    part.mutable_counts()->set_trials(1000000000);
    part.mutable_counts()->set_seeds(4);
    writer->Write(part);
    return Status::OK;
  };
  EXPECT_THAT(
      Run({"plan", sweep_file_}).out,
      HasSubstr("250,000,000 cells, 1,000,000,000 trials (4 seeds each)"));
  const json plan = RunJson({"plan", sweep_file_});
  EXPECT_EQ(plan["trials"], 1000000000);
  EXPECT_TRUE(plan["duplicates"].is_null());
  EXPECT_TRUE(plan["per_cell"].is_null());
}

TEST_F(Commands, CancelSaysHowManyZeroIncluded) {
  int64_t left = 3;
  answers_.cancel = [&](const v1::CancelRequest& request, auto* reply) {
    EXPECT_FALSE(request.request_id().empty());
    reply->set_target("s1");
    reply->set_cancelled(std::exchange(left, 0));
    return Status::OK;
  };
  EXPECT_EQ(Run({"cancel", "depth"}).out, "s1: 3 trials cancelled\n");
  EXPECT_EQ(Run({"cancel", "depth"}).out,
            "s1: 0 trials cancelled: all had ended before\n");
  EXPECT_EQ(RunJson({"cancel", "depth"})["cancelled"], 0);
}

TEST_F(Commands, RetrySaysHowManyOfWhichSetZeroIncluded) {
  std::vector<v1::RetryRequest> seen;
  answers_.attach_reply.set_is_private(true);
  answers_.retry = [&](const v1::RetryRequest& request, auto* reply) {
    seen.push_back(request);
    auto* target = reply->add_targets();
    target->set_target("s1");
    target->set_queued(seen.size() == 1 ? 3 : 0);
    target->set_cancelled(2);
    target->set_finished(1200);
    reply->set_queued(target->queued());
    return Status::OK;
  };
  EXPECT_EQ(Run({"retry", "depth"}).out,
            "s1: 3 trials queued; left alone: 2 cancelled (--cancelled), "
            "1,200 with a result\n"
            "leadline run with its sweep file trains what waits\n");
  EXPECT_EQ(Run({"retry", "depth", "--failed"}).out,
            "s1: 0 trials queued; left alone: 2 cancelled (--cancelled), "
            "1,200 with a result\n");
  const json zero = RunJson({"retry", "s1", "s2.1.0", "--cancelled"});
  EXPECT_EQ(zero["queued"], 0);
  EXPECT_EQ(zero["targets"][0]["cancelled"], 2);
  RunJson({"retry", "s1", "--all-unfinished"});
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_TRUE(seen[0].failed() && !seen[0].cancelled());
  EXPECT_TRUE(seen[1].failed() && !seen[1].cancelled());
  EXPECT_TRUE(!seen[2].failed() && seen[2].cancelled());
  EXPECT_TRUE(seen[3].failed() && seen[3].cancelled());
  EXPECT_EQ(seen[2].targets_size(), 2);
  EXPECT_EQ(seen[0].request_id().size(), 32U);
  EXPECT_NE(seen[0].request_id(), seen[1].request_id());
}

TEST_F(Commands, ChangesAreAskedForAgainWithOneRequestId) {
  std::vector<std::string> ids;
  const auto fail_once = [&](const auto& request, auto*) {
    ids.push_back(request.request_id());
    return ids.size() % 2 == 1 ? Status(StatusCode::UNAVAILABLE, "lost")
                               : Status::OK;
  };
  answers_.retry = fail_once;
  answers_.pause = fail_once;
  answers_.resume = fail_once;
  for (const char* command : {"retry", "pause", "resume"}) {
    ids.clear();
    EXPECT_EQ(Run({command, "s1"}).exit_code, 0) << command;
    ASSERT_EQ(ids.size(), 2U) << command;
    EXPECT_EQ(ids[0], ids[1]) << command;
  }
}

TEST_F(Commands, PauseSaysWhatWaitsWhatStopsAndWhatRunsOn) {
  v1::PauseReply answer;
  answer.set_sweep("s1");
  answer.set_state("paused");
  answer.set_changed(true);
  answer.set_waiting(9);
  answer.set_running(1);
  bool stop = true;
  answers_.pause = [&](const v1::PauseRequest& request, auto* reply) {
    stop = request.stop();
    *reply = answer;
    return Status::OK;
  };
  EXPECT_EQ(Run({"pause", "depth"}).out,
            "s1: paused; 9 trials wait until leadline resume s1; 1 trial runs "
            "on to the end\n");
  EXPECT_FALSE(stop);
  answer.set_running(0);
  answer.set_stopping(3);
  EXPECT_EQ(Run({"pause", "s1", "--stop"}).out,
            "s1: paused; 9 trials wait until leadline resume s1; 3 trials "
            "asked to stop\n");
  EXPECT_TRUE(stop);
  answer.set_changed(false);
  answer.set_stopping(0);
  EXPECT_EQ(Run({"pause", "s1"}).out,
            "s1: 0 sweeps paused: it was paused already; 9 trials wait until "
            "leadline resume s1\n");
  EXPECT_EQ(RunJson({"pause", "s1"})["changed"], false);
  answer.set_state("complete");
  EXPECT_EQ(Run({"pause", "s1"}).out, "s1: 0 sweeps paused: it is complete\n");
}

TEST_F(Commands, ResumeSaysHowManyItQueued) {
  v1::ResumeReply answer;
  answer.set_sweep("s1");
  answer.set_state("active");
  answer.set_changed(true);
  answer.set_queued(3);
  answer.set_waiting(12);
  answers_.resume = [&](const v1::ResumeRequest&, auto* reply) {
    *reply = answer;
    return Status::OK;
  };
  EXPECT_EQ(Run({"resume", "s1"}).out,
            "s1: resumed; 3 suspended trials queued again, 12 trials wait for "
            "a device in all\n");
  EXPECT_EQ(RunJson({"resume", "s1"})["queued"], 3);
  answer.set_changed(false);
  EXPECT_EQ(Run({"resume", "s1"}).out, "s1: 0 sweeps resumed: it is active\n");
}

}  // namespace
}  // namespace leadline::cli_test
