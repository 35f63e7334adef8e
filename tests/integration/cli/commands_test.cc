// Each command against a coordinator that answers as the test says.

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fake_coordinator.h"
#include "program.h"

namespace leadline::cli_test {
namespace {

namespace fs = std::filesystem;
using grpc::Status;
using grpc::StatusCode;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class Commands : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "commands_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    sweep_file_ = (folder_ / "sweep.yaml").string();
    std::ofstream(sweep_file_) << "leadline: 1\n";
  }
  void TearDown() override { fs::remove_all(folder_); }

  Ended Run(std::vector<std::string> arguments,
            const std::string& locale = "C.UTF-8") {
    FakeCoordinator coordinator(answers_);
    Program program(
        std::move(arguments),
        {{"LEADLINE_COORDINATOR", coordinator.address()}, {"LC_ALL", locale}});
    Ended ended = program.Wait();
    attached_ = coordinator.attached();
    return ended;
  }

  // Runs with --json and checks that all output is one document.
  json RunJson(std::vector<std::string> arguments, int exit_code = 0) {
    arguments.push_back("--json");
    const Ended ended = Run(std::move(arguments));
    EXPECT_EQ(ended.exit_code, exit_code) << ended.err;
    json document = json::parse(ended.out, nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << ended.out;
    return document;
  }

  json RunJsonError(std::vector<std::string> arguments, int exit_code) {
    arguments.push_back("--json");
    const Ended ended = Run(std::move(arguments));
    EXPECT_EQ(ended.exit_code, exit_code) << ended.err;
    EXPECT_EQ(ended.out, "");
    json document = json::parse(ended.err, nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << ended.err;
    EXPECT_EQ(document["error"]["code"], exit_code);
    return document["error"];
  }

  Answers answers_;
  fs::path folder_;
  std::string sweep_file_;
  std::vector<v1::AttachRequest> attached_;
};

TEST_F(Commands, WithoutOneTellWhatThereIs) {
  const Ended ended = Run({});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("leadline --help"));
}

TEST_F(Commands, RefuseArgumentsTheyDoNotKnow) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{
           {"nonsense"},
           {"run"},
           {"ls", "--limit", "0"},
           {"ls", "--limit", "x"},
           {"ls", "stray"},
           {"show"},
           {"show", "s1", "--routing"},
           {"show", "s1.1.0", "--step", "3"},
           {"results", "--format", "xml"},
           {"logs", "s1.1.0", "--stdout", "--stderr"},
           {"ls", "--coordinator", "nowhere"}}) {
    const Ended ended = Run(arguments);
    EXPECT_EQ(ended.exit_code, 2) << arguments[0] << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_NE(ended.err, "");
    EXPECT_EQ(RunJsonError(arguments, 2).size(), 3U);
  }
}

TEST_F(Commands, NameTheArgumentThatIsWrong) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"rnu", "sweep.yaml"}, "there is no command 'rnu'"},
      {{"run", "--slotz", "2", "sweep.yaml"}, "there is no option --slotz\n"},
      {{"--jso=1", "ls"}, "there is no option --jso\n"},
      {{"-x"}, "there is no option -x\n"},
      {{"plan", "a.yaml", "b.yaml"}, "unexpected argument 'b.yaml'"},
      {{"results", "--format", "pdf"},
       "--format: 'pdf', expected table, markdown, csv or json"}};
  for (const auto& [arguments, message] : cases) {
    EXPECT_THAT(Run(arguments).err, HasSubstr("leadline: " + message));
  }
}

TEST_F(Commands, HelpNeedsNoCoordinatorAndTeaches) {
  Program program({"--help"}, {});
  const Ended all = program.Wait();
  EXPECT_EQ(all.exit_code, 0);
  for (const char* part :
       {"Examples:", "Exit codes:", "LEADLINE_STATE", "130"}) {
    EXPECT_THAT(all.out, HasSubstr(part));
  }
  for (const char* command :
       {"run", "submit", "plan", "ls", "show", "watch", "results", "logs",
        "cancel", "settings", "methods", "datasets", "version"}) {
    EXPECT_THAT(all.out, HasSubstr("  " + std::string(command) + " "));
    Program one({command, "--help"}, {});
    const Ended ended = one.Wait();
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_THAT(ended.out, HasSubstr("--json"));
    EXPECT_THAT(ended.out, Not(HasSubstr("Excludes")));
    EXPECT_THAT(ended.out,
                HasSubstr("Examples:\n  leadline " + std::string(command)));
  }
}

TEST_F(Commands, SayThatNoCoordinatorAnswers) {
  Program program({"ls", "--coordinator", "127.0.0.1:1"}, {});
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_THAT(ended.err, HasSubstr("127.0.0.1:1"));
  Program socket({"ls", "--coordinator", "unix:/no/such/folder/s.sock"}, {});
  EXPECT_EQ(socket.Wait().exit_code, 4);
}

TEST_F(Commands, MapTheCoordinatorsRefusalsToExitCodes) {
  const std::map<StatusCode, int> codes = {
      {StatusCode::PERMISSION_DENIED, 5}, {StatusCode::UNAUTHENTICATED, 5},
      {StatusCode::NOT_FOUND, 6},         {StatusCode::UNAVAILABLE, 4},
      {StatusCode::INTERNAL, 1},          {StatusCode::UNIMPLEMENTED, 1}};
  for (const auto& [code, exit_code] : codes) {
    answers_.cancel = [code = code](const auto&, auto*) {
      return Status(code, "why");
    };
    EXPECT_EQ(Run({"cancel", "s1"}).exit_code, exit_code) << code;
    EXPECT_NE(RunJsonError({"cancel", "s1"}, exit_code)["message"], "");
  }
}

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
      "\n"
      "cell  depth  dataset  method      trials  parameters  FLOPs a trial\n"
      "   1     12  text8    wav(rho=2)       3       12.6M     1.00 TFLOP\n"
      "   2     24  text8    wav(rho=2)       3     12.6M *   1.00 TFLOP *\n"
      "* without the embedding: the vocabulary is known once the data is "
      "there\n");
  const json plan = RunJson({"plan", sweep_file_});
  EXPECT_EQ(plan["trials"], 6);
  EXPECT_EQ(plan["per_cell"][0]["parameters"], 12596224);
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

Status ManySweeps(const v1::ListSweepsRequest& request,
                  v1::ListSweepsReply* reply) {
  const int64_t newest = request.before() == 0 ? 127 : request.before() - 1;
  for (int64_t i = newest; i > 0 && i > newest - request.limit(); --i) {
    auto* sweep = reply->add_sweeps();
    sweep->set_sweep("s" + std::to_string(i));
    sweep->set_name("study");
    sweep->set_state("complete");
    sweep->set_trials(24);
  }
  reply->set_total(127);
  return Status::OK;
}

TEST_F(Commands, LsSaysWhenTheListIsAPart) {
  answers_.list_sweeps = ManySweeps;
  EXPECT_THAT(Run({"ls"}).out, HasSubstr("20 of 127 sweeps"));
  EXPECT_THAT(Run({"ls", "--limit", "200"}).out, Not(HasSubstr("of 127")));
  const json all = RunJson({"ls", "--limit", "200"});
  EXPECT_EQ(all["total"], 127);
  EXPECT_EQ(all["sweeps"].size(), 127U);
  EXPECT_EQ(all["sweeps"][126]["sweep"], "s1");
}

TEST_F(Commands, LsOfNothingIsNoError) {
  answers_.list_sweeps = [](const auto&, auto*) { return Status::OK; };
  EXPECT_EQ(Run({"ls"}).out, "no sweeps yet\n");
  EXPECT_EQ(RunJson({"ls"})["sweeps"].size(), 0U);
}

TEST_F(Commands, ShowOfASweepPagesThroughItsTrials) {
  answers_.list_sweeps = ManySweeps;
  answers_.list_trials = [](const v1::ListTrialsRequest& request,
                            v1::ListTrialsReply* reply) {
    const int64_t first =
        request.after().empty() ? 0 : std::stoll(request.after().substr(5)) + 1;
    for (int64_t i = first; i < 1500 && i < first + request.limit(); ++i) {
      reply->add_trials()->set_trial("s3.1." + std::to_string(i));
    }
    reply->set_total(1500);
    reply->set_sweep("s3");
    return Status::OK;
  };
  EXPECT_THAT(Run({"show", "study"}).out, HasSubstr("40 of 1,500 trials"));
  const json all = RunJson({"show", "s3"});
  EXPECT_EQ(all["sweep"], "s3");
  EXPECT_EQ(all["trial_list"].size(), 1500U);
  EXPECT_EQ(all["trial_list"][1499]["trial"], "s3.1.1499");
}

TEST_F(Commands, ShowConfigIsTheTrainersConfigurationByteForByte) {
  answers_.trainer_config = [](const v1::TrialRequest& request, auto* reply) {
    EXPECT_EQ(request.trial(), "s1.1.0");
    reply->set_json("{\"version\": 1}");
    return Status::OK;
  };
  EXPECT_EQ(Run({"show", "s1.1.0", "--config"}).out, "{\"version\": 1}\n");
  EXPECT_EQ(Run({"show", "s1.1.0", "--config", "--json"}).out,
            "{\"version\": 1}\n");
}

TEST_F(Commands, ShowRoutingDrawsTheMap) {
  answers_.routing = [](const v1::RoutingRequest& request, auto* reply) {
    reply->set_trial(request.trial());
    reply->set_step(request.step());
    auto* row = reply->add_map();
    row->add_sources("e");
    row->add_weights(1);
    return Status::OK;
  };
  const Ended ended = Run({"show", "s1.1.0", "--routing", "--step", "30"});
  EXPECT_THAT(ended.out, HasSubstr("routing of s1.1.0 at step 30"));
  EXPECT_THAT(ended.out, HasSubstr("█"));
  EXPECT_THAT(Run({"show", "s1.1.0", "--routing"}, "C").out, HasSubstr("@"));
  EXPECT_EQ(RunJson({"show", "s1.1.0", "--routing"})["map"][0]["weights"][0],
            1.0);
}

TEST_F(Commands, ShowOfATrialTellsSettingsAndAttempts) {
  answers_.show_trial = [](const v1::TrialRequest&, v1::ShowTrialReply* reply) {
    reply->mutable_trial()->set_trial("s1.1.0");
    reply->mutable_trial()->set_state("failed");
    (*reply->mutable_settings())["lr"].set_number(0.001);
    (*reply->mutable_settings())["depth"].set_integer(12);
    auto* attempt = reply->add_attempts();
    attempt->set_attempt("s1.1.0@1");
    attempt->set_kind("oom");
    attempt->set_message("out of memory\nat step 3");
    return Status::OK;
  };
  const Ended ended = Run({"show", "s1.1.0"});
  EXPECT_THAT(ended.out, HasSubstr("s1.1.0: failed"));
  EXPECT_THAT(ended.out, HasSubstr("out of memory\\nat step 3"));
  const json trial = RunJson({"show", "s1.1.0"});
  EXPECT_EQ(trial["settings"]["depth"], 12);
  EXPECT_EQ(trial["settings"]["lr"], 0.001);
  EXPECT_TRUE(trial["result"].is_null());
  EXPECT_EQ(trial["attempt_list"][0]["kind"], "oom");
}

TEST_F(Commands, ResultsHaveFourFormats) {
  answers_.results = [](const v1::ResultsRequest& request, auto*,
                        auto* writer) {
    EXPECT_EQ(request.sweep(), "s1");
    v1::ResultsPart header;
    header.mutable_header()->set_sweep("s1");
    header.mutable_header()->set_metric("validation_loss");
    header.mutable_header()->set_unit("nats/char");
    writer->Write(header);
    v1::ResultsPart part;
    v1::CellResult* cell = part.mutable_cell();
    cell->set_cell("s1.1");
    cell->set_depth(4);
    cell->set_dataset("grammar16");
    cell->set_method("wav");
    cell->set_n(2);
    cell->set_planned(2);
    cell->set_mean(0.30000000000000004);
    cell->set_sd(0.0012);
    writer->Write(part);
    return Status::OK;
  };
  EXPECT_THAT(Run({"results", "s1"}).out,
              HasSubstr("grammar16  wav     0.3000 ± 0.0012 (2)"));
  EXPECT_THAT(Run({"results", "s1"}, "C").out,
              HasSubstr("0.3000 +/- 0.0012 (2)"));
  EXPECT_EQ(Run({"results", "s1", "--format", "csv"}).out,
            "cell,depth,dataset,method,n,planned,diverged,failed,floor,mean,sd,"
            "min,max\n"
            "s1.1,4,grammar16,wav,2,2,0,0,,0.30000000000000004,0.0012,,\n");
  EXPECT_THAT(Run({"results", "s1", "--format", "markdown"}).out,
              HasSubstr("| grammar16 | wav |"));
  const json results = RunJson({"results", "s1"});
  EXPECT_EQ(results["cells"][0]["mean"], 0.30000000000000004);
  EXPECT_EQ(Run({"results", "s1", "--format", "json"}).out,
            Run({"results", "s1", "--json"}).out);
}

TEST_F(Commands, LogsAreBytesAsTheyWere) {
  const std::string bytes("a\0b\xff\x1b[2J", 8);
  answers_.read_log = [&](const v1::LogRequest& request, auto*, auto* writer) {
    EXPECT_EQ(request.stream(), "events");
    EXPECT_EQ(request.attempt(), 2);
    v1::LogChunk chunk;
    chunk.set_attempt("s1.1.0@2");
    chunk.set_data(bytes);
    writer->Write(chunk);
    return Status::OK;
  };
  const std::vector<std::string> command = {"logs", "s1.1.0", "--events",
                                            "--attempt", "2"};
  EXPECT_EQ(Run(command).out, bytes);
  EXPECT_EQ(RunJson(command)["attempt"], "s1.1.0@2");
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

TEST_F(Commands, SettingsAndMethodsComeFromTheTables) {
  EXPECT_THAT(Run({"settings"}).out, HasSubstr("\nd_model "));
  EXPECT_THAT(Run({"settings", "cohort"}).out, HasSubstr("identity no"));
  EXPECT_EQ(RunJson({"settings", "depth"})["key"], "depth");
  EXPECT_GT(RunJson({"settings"})["settings"].size(), 20U);
  EXPECT_EQ(Run({"settings", "nonsense"}).exit_code, 6);
  EXPECT_THAT(Run({"methods"}).out, HasSubstr("block_attnres"));
  EXPECT_THAT(Run({"methods", "wav"}).out, HasSubstr("arXiv"));
  EXPECT_EQ(RunJson({"methods", "wav"})["name"], "wav");
  EXPECT_EQ(RunJsonError({"methods", "nonsense"}, 6)["where"], "nonsense");
}

TEST_F(Commands, DatasetsComeFromTheTable) {
  const std::string all = Run({"datasets"}).out;
  for (const char* part : {"iid27", "built-in", "c83a368f0e61", "3.1027",
                           "tinystories_v2", "2,250,255,763"}) {
    EXPECT_THAT(all, HasSubstr(part));
  }
  EXPECT_THAT(Run({"datasets", "text8"}).out,
              HasSubstr("md5:3bea1919949baf155f99411df5fada7e"));
  EXPECT_THAT(Run({"datasets", "tinystories"}).out,
              HasSubstr("halves of TinyStories-valid.txt"));
  EXPECT_EQ(RunJson({"datasets"})["datasets"].size(), 10U);
  const json corpus = RunJson({"datasets", "iid27"});
  EXPECT_EQ(corpus["file"]["bytes"], 2'000'000);
  EXPECT_EQ(corpus["validation_floor"], 3.1026935741986934);
  EXPECT_EQ(corpus["held_out"], nullptr);
  const json stories = RunJson({"datasets", "tinystories"});
  EXPECT_EQ(stories["vocabulary"], nullptr);
  EXPECT_EQ(stories["split"], nullptr);
  EXPECT_EQ(stories["held_out"]["bytes"], 19'447'282);
  EXPECT_EQ(RunJsonError({"datasets", "nonsense"}, 6)["where"], "nonsense");
}

TEST_F(Commands, VersionIsOneLine) {
  EXPECT_THAT(Run({"version"}).out,
              ::testing::MatchesRegex("leadline [0-9.]+\n"));
  EXPECT_EQ(RunJson({"version"})["program"], "leadline");
}

TEST_F(Commands, NoticeThatStandardOutputIsFull) {
  // Little is written at the end, much before it: the reason is told of both.
  for (const std::string what : {"version", "settings --json"}) {
    const std::string told = (folder_ / "told").string();
    const std::string command =
        std::string(LEADLINE_PROGRAM) + " " + what + " > /dev/full 2> " + told;
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
    std::ifstream file(told);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_THAT(text, HasSubstr("No space left")) << what;
  }
}

}  // namespace
}  // namespace leadline::cli_test
