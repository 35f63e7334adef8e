// Commands that read: ls, show, results, logs, and the tables.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands_fixture.h"

namespace leadline::cli_test {
namespace {

using grpc::Status;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

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
    auto* figure = reply->add_statistics();
    figure->set_name("layer.input_rms");
    figure->add_values(0.125);
    return Status::OK;
  };
  const Ended ended = Run({"show", "s1.1.0", "--routing", "--step", "30"});
  EXPECT_THAT(ended.out, HasSubstr("routing of s1.1.0 at step 30"));
  EXPECT_THAT(ended.out, HasSubstr("█"));
  EXPECT_THAT(ended.out, HasSubstr("input rms"));
  EXPECT_THAT(ended.out, HasSubstr("0.125"));
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
    for (const char* node : {"gpu7", "gpu8"}) {
      v1::AttemptRank& rank = *attempt->add_ranks();
      rank.set_rank(attempt->ranks_size() - 1);
      rank.set_node(node);
      rank.add_devices("GPU-1");
    }
    return Status::OK;
  };
  const Ended ended = Run({"show", "s1.1.0"});
  EXPECT_THAT(ended.out, HasSubstr("ranks of s1.1.0@1:\n"));
  EXPECT_THAT(ended.out, HasSubstr("   1  gpu8  GPU-1"));
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
  EXPECT_EQ(stories["licence"], "CDLA-Sharing-1.0");
  const json text8 = RunJson({"datasets", "text8"});
  EXPECT_EQ(text8["file"]["url"], "http://mattmahoney.net/dc/text8.zip");
  EXPECT_EQ(text8["file"]["archive"]["bytes"], 31'344'016);
  EXPECT_EQ(RunJsonError({"datasets", "nonsense"}, 6)["where"], "nonsense");
}

TEST_F(Commands, Text8FilterReadsAFileAndWritesTheTextAlone) {
  const auto file = folder_ / "wiki.xml";
  std::ofstream(file) << "<page><title>T</title><text xml:space=\"preserve\">"
                         "Hi &lt;b&gt;there&lt;/b&gt; 42</text></page>";
  EXPECT_EQ(Run({"text8-filter", file}).out, " hi there four two");
  EXPECT_EQ(Run({"text8-filter", "--plain", file}).out.substr(0, 17),
            " page title t tit");
  EXPECT_EQ(Run({"text8-filter", folder_ / "none"}).exit_code, 1);
  EXPECT_EQ(Run({"text8-filter", folder_}).exit_code, 1);
  RunJsonError({"text8-filter", file}, 2);
}

}  // namespace
}  // namespace leadline::cli_test
