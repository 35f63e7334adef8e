// The program as a whole: configuration in, events out, exit codes.

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "common/sha256.h"
#include "model/spec/dataset_table.h"
#include "model/spec/identity.h"
#include "worker/dataset/ensure_dataset.h"

namespace leadline::trainer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

struct Outcome {
  int exit_code = -1;
  std::vector<json> events;
  std::string errors;

  std::vector<json> Of(const std::string& event) const {
    std::vector<json> found;
    for (const json& line : events) {
      if (line["event"] == event) found.push_back(line);
    }
    return found;
  }
};

std::string Contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class TrainerProgram : public testing::Test {
 protected:
  TrainerProgram() {
    std::string pattern = testing::TempDir() + "trainer_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~TrainerProgram() override { std::filesystem::remove_all(folder_); }

  spec::TrainerConfig Config(const std::string& corpus,
                             spec::GivenSettings given) const {
    given.try_emplace("method", "prenorm");
    given.try_emplace("depth", int64_t{2});
    given.try_emplace("d_model", int64_t{16});
    given.try_emplace("n_heads", int64_t{2});
    given.try_emplace("context", int64_t{16});
    given.try_emplace("batch_sequences", int64_t{4});
    given.try_emplace("steps", int64_t{20});
    given.try_emplace("eval_every", int64_t{10});
    given.try_emplace("eval_windows", int64_t{8});
    given.try_emplace("lr", 1e-2);
    spec::Resolution resolution = spec::Resolve(given);
    EXPECT_TRUE(resolution.errors.empty());
    spec::TrainerConfig config;
    config.settings = resolution.settings;
    config.seeds = {0, 1};
    const spec::DatasetInfo& info = *spec::FindDataset(corpus);
    config.dataset.path = dataset::EnsureDataset(info, DataFolder(), {});
    config.dataset.content_hash = info.content_hash;
    return config;
  }

  // A small text instead of a corpus, so that full evaluations take no time.
  spec::TrainerConfig SmallConfig(spec::GivenSettings given = {}) const {
    spec::TrainerConfig config = Config("grammar16", std::move(given));
    const std::string text = Contents(config.dataset.path).substr(0, 8000);
    config.dataset.path = folder_ / "text.txt";
    std::ofstream(config.dataset.path) << text;
    config.dataset.content_hash = Sha256Of(text);
    return config;
  }

  pid_t Start(const std::string& config) const {
    std::ofstream(folder_ / "config.json") << config;
    return StartWith(folder_ / "config.json", folder_ / "out");
  }

  pid_t StartWith(const std::string& argument, const std::string& out) const {
    const std::string err = folder_ / "err";
    const pid_t child = fork();
    if (child == 0) {
      dup2(open(out.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600), 1);
      dup2(open(err.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600), 2);
      execl(LEADLINE_TRAINER_PROGRAM, "leadline-trainer", argument.c_str(),
            nullptr);
      _exit(127);
    }
    return child;
  }

  Outcome Finish(pid_t child,
                 const std::optional<std::string>& folder = {}) const {
    Outcome outcome;
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    outcome.errors = Contents(folder_ / "err");
    std::istringstream lines(
        Contents(folder ? std::filesystem::path(*folder) / "events.jsonl"
                        : folder_ / "out"));
    for (std::string line; std::getline(lines, line);) {
      outcome.events.push_back(json::parse(line));
    }
    return outcome;
  }

  Outcome Run(const spec::TrainerConfig& config) const {
    return Finish(Start(spec::TrainerConfigJson(config)), config.folder);
  }

  std::string MakeFolder(const std::string& name) const {
    std::filesystem::create_directory(folder_ / name);
    return folder_ / name;
  }

  static int64_t BytesUnder(const std::filesystem::path& folder) {
    int64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      bytes += static_cast<int64_t>(entry.file_size());
    }
    return bytes;
  }

  static std::filesystem::path DataFolder() {
    return std::filesystem::path(testing::TempDir()) / "leadline_corpora";
  }

  std::filesystem::path folder_;
};

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

// Events without what differs between two runs of the same training.
std::vector<json> Comparable(const Outcome& outcome) {
  std::vector<json> events;
  for (json event : outcome.events) {
    if (event["event"] == "start") continue;
    for (const char* key :
         {"sequence", "time_s", "step_seconds", "tokens_per_second", "seconds",
          "peak_bytes", "folder"}) {
      event.erase(key);
    }
    for (const char* key :
         {"cost.evaluation_tokens_per_second", "cost.peak_bytes"}) {
      if (event.contains("values")) event["values"].erase(key);
    }
    events.push_back(event);
  }
  return events;
}

TEST_F(TrainerProgram, GoesOnFromACheckpointAsIfItHadNeverEnded) {
  // The checkpoint lies within an interval of logged means.
  spec::TrainerConfig config = SmallConfig({{"method", "wav"},
                                            {"block_sublayers", int64_t{4}},
                                            {"log_every", int64_t{7}},
                                            {"checkpoint_every", int64_t{9}}});
  config.folder = MakeFolder("straight");
  const Outcome straight = Run(config);
  EXPECT_EQ(straight.exit_code, 0) << straight.errors;
  const auto written = straight.Of("checkpoint");
  ASSERT_EQ(written.size(), 3U);  // 9, 18, and the last step
  EXPECT_EQ(written[2]["step"], 20);
  const std::string kept = written[0]["folder"];
  EXPECT_EQ(written[0]["bytes"], BytesUnder(kept));

  config.folder = MakeFolder("resumed");
  config.resume = kept;
  const Outcome resumed = Run(config);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
  std::vector<json> expected = Comparable(straight);
  const std::vector<json> events = Comparable(resumed);
  ASSERT_GT(events.size(), 8U);
  // Those of the first nine steps are not told again.
  expected.erase(expected.begin(), expected.end() - std::ssize(events));
  EXPECT_EQ(events, expected);
  EXPECT_EQ(
      Contents(
          std::filesystem::path(resumed.Of("checkpoint").back()["folder"]) /
          "manifest.json"),
      Contents(std::filesystem::path(written[2]["folder"]) / "manifest.json"));
}

TEST_F(TrainerProgram, DamagedOrOtherCheckpointsAreNotResumed) {
  spec::TrainerConfig config = SmallConfig({{"checkpoint_every", "end"}});
  config.folder = MakeFolder("first");
  const std::string kept = Run(config).Of("checkpoint")[0]["folder"];

  const auto expect_refused = [&](const char* folder, const char* kind,
                                  const std::string& words) {
    config.folder = MakeFolder(folder);
    config.resume = kept;
    const Outcome outcome = Run(config);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.Of("end")[0]["kind"], kind);
    EXPECT_THAT(outcome.errors, HasSubstr(words));
  };
  config.seeds = {1, 0};
  expect_refused("seeds", "config", "other seeds");
  config.seeds = {0, 1};
  const spec::Settings same = config.settings;
  spec::GivenSettings other = same.values();
  other["lr"] = 2e-2;
  config.settings = spec::Settings(other);
  expect_refused("cell", "config", "another cell");
  config.settings = same;
  const auto file = std::filesystem::path(kept) / "moments.safetensors";
  std::string bytes = Contents(file);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  std::ofstream(file, std::ios::binary) << bytes;
  expect_refused("damaged", "data", "moments.safetensors is damaged");
}

TEST_F(TrainerProgram, StartsFromTheWeightsOfACheckpoint) {
  spec::TrainerConfig config = SmallConfig({{"checkpoint_every", "end"}});
  config.folder = MakeFolder("first");
  const Outcome first = Run(config);
  const std::string kept = first.Of("checkpoint")[0]["folder"];
  const std::string hash =
      Sha256Of(Contents(std::filesystem::path(kept) / "manifest.json"));
  config.folder.reset();
  const auto run = [&](const std::string& wanted) {
    spec::GivenSettings values = config.settings.values();
    values["checkpoint_every"] = "off";
    values["init_from"] = wanted;
    values["init_from_path"] = kept;
    values["lr"] = 1e-9;
    values["lr_min"] = 1e-9;
    spec::TrainerConfig later = config;
    later.settings = spec::Settings(values);
    return Run(later);
  };
  const Outcome later = run(hash);
  EXPECT_EQ(later.exit_code, 0) << later.errors;
  for (size_t r = 0; r < 2; ++r) {
    EXPECT_NEAR(later.Of("result")[r]["validation_loss"],
                first.Of("result")[r]["validation_loss"], 1e-5);
  }
  std::swap(config.seeds[0], config.seeds[1]);
  EXPECT_NEAR(run(hash).Of("result")[0]["validation_loss"],
              first.Of("result")[1]["validation_loss"], 1e-5);
  const Outcome other = run(std::string(64, '0'));
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_EQ(other.Of("end")[0]["kind"], "data");
  config.seeds = {0, 5};
  EXPECT_THAT(run(hash).errors, HasSubstr("no replica of seed 5"));
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
  while (Contents(record).find("\"step\"") == std::string::npos) {
    ASSERT_EQ(waitpid(child, nullptr, WNOHANG), 0) << Contents(folder_ / "err");
    sched_yield();
  }
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
