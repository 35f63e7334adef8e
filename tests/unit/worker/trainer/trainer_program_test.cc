// The program as a whole: configuration in, events out, exit codes.

#include "tests/unit/worker/trainer/trainer_program.h"

#include <csignal>
#include <fstream>
#include <numeric>

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/sha256.h"
#include "model/spec/dataset_table.h"

namespace leadline::trainer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST_F(TrainerProgram, TrainsEverySeedAndTellsItsResult) {
  const Outcome outcome = Run(SmallConfig());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_EQ(outcome.Of("start").size(), 1U);
  EXPECT_EQ(outcome.Of("step").size(), 2U);
  EXPECT_EQ(outcome.Of("evaluation").size(), 4U);
  EXPECT_EQ(outcome.Of("replica_end").size(), 2U);
  const auto results = outcome.Of("result");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[1]["seed"], 1);
  EXPECT_NE(results[0]["validation_loss"], results[1]["validation_loss"]);
  EXPECT_LT(results[0]["validation_loss"], 3.0);
  EXPECT_EQ(outcome.Of("end")[0]["outcome"], "succeeded");
  EXPECT_EQ(outcome.events.back()["event"], "end");
  EXPECT_EQ(outcome.Of("start")[0]["numerics"], "fused-fp32");
}

TEST_F(TrainerProgram, SameSeedsGiveTheSameBitsAndOthersOthers) {
  spec::TrainerConfig config = SmallConfig();
  const auto first = Run(config).Of("result");
  const auto second = Run(config).Of("result");
  ASSERT_EQ(first.size(), 2U);
  ASSERT_EQ(second.size(), 2U);
  for (int r = 0; r < 2; ++r) {
    EXPECT_EQ(first[r]["validation_loss"].dump(),
              second[r]["validation_loss"].dump());
  }
  config.seeds = {2, 3};
  EXPECT_NE(Run(config).Of("result")[0]["validation_loss"],
            first[0]["validation_loss"]);
}

TEST_F(TrainerProgram, MicroBatchesChangeTheResultByRoundingOnly) {
  const double whole = Run(SmallConfig({{"precision", "fp64"}}))
                           .Of("result")[0]["validation_loss"];
  const double parts =
      Run(SmallConfig({{"precision", "fp64"}, {"micro_batch", int64_t{1}}}))
          .Of("result")[0]["validation_loss"];
  EXPECT_NEAR(whole, parts, 1e-8);
}

TEST_F(TrainerProgram, StoriesAreRespectedWhereAskedForAndTold) {
  const auto with = [&](const char* respect) {
    spec::TrainerConfig config = SmallConfig({{"respect_documents", respect}});
    std::string text;
    for (int i = 0; text.size() < 8000; ++i) {
      text += "story " + std::to_string(i % 50) + " is short\n<|endoftext|>\n";
    }
    std::ofstream(config.dataset.path) << text;
    config.dataset.content_hash = Sha256Of(text);
    return Run(config);
  };
  const Outcome on = with("on");
  const Outcome off = with("off");
  ASSERT_EQ(on.exit_code, 0) << on.errors;
  ASSERT_EQ(off.exit_code, 0) << off.errors;
  const json& data = on.events.front()["data"];
  EXPECT_GT(data["stories"].get<int>(), 20);
  EXPECT_GT(data["duplicates"].get<int>(), 18);
  EXPECT_EQ(data["bytes_per_character"], 1.0);
  EXPECT_NE(on.events.front()["settings_hash"],
            off.events.front()["settings_hash"]);
  const auto loss = [](const Outcome& outcome) {
    for (const json& event : outcome.events) {
      if (event["event"] == "result") {
        return event["validation_loss"].get<double>();
      }
    }
    return 0.0;
  };
  EXPECT_NE(loss(on), loss(off));
}

TEST_F(TrainerProgram, InAFolderItAppendsToItsEventFile) {
  spec::TrainerConfig config = SmallConfig();
  config.folder = folder_ / "attempt";
  std::filesystem::create_directory(*config.folder);
  const Outcome outcome = Run(config);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_EQ(outcome.events.back()["event"], "end");
  EXPECT_EQ(Contents(folder_ / "out"), "");
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(*config.folder) /
                                       "orders.sock"));
}

TEST_F(TrainerProgram, LossAboveTheLimitIsDivergenceAndNoFailure) {
  const Outcome outcome = Run(SmallConfig({{"divergence_loss", 0.5}}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  const auto ends = outcome.Of("replica_end");
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[0]["state"], "diverged");
  EXPECT_EQ(ends[0]["step"], 1);
  EXPECT_TRUE(outcome.Of("result").empty());
  EXPECT_EQ(outcome.Of("end")[0]["outcome"], "succeeded");
}

TEST_F(TrainerProgram, RoutedMethodTellsItsWeightsAtEachEvaluation) {
  const Outcome outcome =
      Run(SmallConfig({{"method", "wav"}, {"block_sublayers", int64_t{4}}}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  const auto routing = outcome.Of("routing");
  ASSERT_EQ(routing.size(), 4U);  // two evaluations of two replicas
  EXPECT_EQ(routing[3]["replica"], 1);
  EXPECT_EQ(routing[3]["step"], 20);
  const json& values = routing[3]["values"];
  ASSERT_EQ(values["route.map"].size(), 5U);  // sublayers and the readout
  for (size_t q = 0; q < 5; ++q) {
    const std::vector<double> weights = values["route.map"][q];
    const std::vector<size_t> spans = values["route.sources"]["rows"][q];
    size_t named = 0;
    for (size_t i = 0; i < spans.size(); i += 2)
      named += spans[i + 1] - spans[i];
    EXPECT_EQ(named, weights.size());
    EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-5);
  }
  for (const char* name :
       {"route.entropy", "route.max_weight", "route.embedding_mass",
        "route.detail_mass", "layer.stream_rms"}) {
    EXPECT_EQ(values[name].size(), 5U) << name;
  }
  EXPECT_TRUE(values.contains("causal.details"));
  EXPECT_FALSE(routing[1]["values"].contains("causal.details"));
  EXPECT_TRUE(Run(SmallConfig({{"method", "wav"},
                               {"block_sublayers", int64_t{4}},
                               {"diagnostics", "off"}}))
                  .Of("routing")
                  .empty());
}

TEST_F(TrainerProgram, ChangedDataFailsAsData) {
  const spec::TrainerConfig config = SmallConfig();
  std::ofstream(config.dataset.path, std::ios::app) << "more";
  const Outcome outcome = Run(config);
  EXPECT_EQ(outcome.exit_code, 1);
  ASSERT_EQ(outcome.Of("end").size(), 1U);
  EXPECT_EQ(outcome.Of("end")[0]["outcome"], "failed");
  EXPECT_EQ(outcome.Of("end")[0]["kind"], "data");
}

TEST_F(TrainerProgram, TextShorterThanAWindowFailsAsData) {
  const Outcome outcome = Run(SmallConfig({{"context", int64_t{512}}}));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.Of("end")[0]["kind"], "data");
  EXPECT_THAT(outcome.errors, HasSubstr("needs at least 513"));
}

TEST_F(TrainerProgram, WhatIsNoConfigurationIsMisuse) {
  const Outcome outcome = Finish(Start("{\"version\": 1, \"version\": 1}"));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(outcome.events.empty());
  EXPECT_THAT(outcome.errors, HasSubstr("twice"));
}

TEST_F(TrainerProgram, ConfigurationWithoutAnEndIsMisuse) {
  EXPECT_EQ(Finish(StartWith("/dev/zero", folder_ / "out")).exit_code, 2);
}

TEST_F(TrainerProgram, RecordThatCannotBeWrittenIsAFailure) {
  std::ofstream(folder_ / "config.json")
      << spec::TrainerConfigJson(SmallConfig());
  const pid_t child = StartWith(folder_ / "config.json", "/dev/full");
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(Contents(folder_ / "err"), HasSubstr("cannot write an event"));
}

TEST_F(TrainerProgram, DeviceThatIsNotThereIsADeviceFailure) {
  spec::TrainerConfig config = SmallConfig();
  config.device = "cuda:63";
  const Outcome outcome = Run(config);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.Of("end")[0]["kind"], "device");
}

TEST_F(TrainerProgram, TerminatedItEndsAsCancelled) {
  spec::TrainerConfig config = SmallConfig({{"steps", int64_t{100'000'000}}});
  config.folder = folder_ / "attempt";
  std::filesystem::create_directory(*config.folder);
  const auto record = std::filesystem::path(*config.folder) / "events.jsonl";
  const pid_t child = Start(spec::TrainerConfigJson(config));
  ASSERT_TRUE(WaitUntil(child, [&] {
    return Contents(record).find("\"step\"") != std::string::npos;
  })) << Contents(folder_ / "err");
  kill(child, SIGTERM);
  const Outcome outcome = Finish(child, config.folder);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.events.back()["event"], "end");
  EXPECT_EQ(outcome.events.back()["outcome"], "cancelled");
}

// The floor is what a reader who knows the process cannot beat: to reach it
// shows that training works, to go below would show that something leaks.
TEST_F(TrainerProgram, IndependentSymbolsAreLearntToTheFloorAndNotBelow) {
  spec::TrainerConfig config =
      Config("iid27", {{"steps", int64_t{150}},
                       {"batch_sequences", int64_t{32}},
                       {"depth", int64_t{1}},
                       {"context", int64_t{32}}});
  config.seeds = {7};
  const auto results = Run(config).Of("result");
  ASSERT_EQ(results.size(), 1U);
  const spec::DatasetInfo& info = *spec::FindDataset("iid27");
  const double validation = results[0]["validation_loss"];
  EXPECT_LT(validation, *info.validation_floor + 0.02);
  EXPECT_GT(validation, *info.validation_floor - 0.005);
  const double test = results[0]["test_loss"];
  EXPECT_LT(test, *info.test_floor + 0.02);
  EXPECT_GT(test, *info.test_floor - 0.005);
}

}  // namespace
}  // namespace leadline::trainer
