// What a trainer keeps, and how another goes on from it.

#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "common/sha256.h"
#include "tests/unit/worker/trainer/trainer_program.h"

namespace leadline::trainer {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using testing::HasSubstr;

// Events without what differs between two runs of the same training.
std::vector<json> Comparable(const Outcome& outcome) {
  std::vector<json> events;
  for (json event : outcome.events) {
    // One is told once it is on disk, whenever that is.
    if (event["event"] == "start" || event["event"] == "checkpoint") continue;
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
                                            {"checkpoint_every", int64_t{9}},
                                            {"checkpoint_keep", int64_t{3}}});
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

/// Names in the folder of checkpoints, ascending.
std::vector<std::string> NamesIn(const std::string& attempt) {
  std::vector<std::string> names;
  const fs::path folder = fs::path(attempt) / "checkpoints";
  if (!fs::exists(folder)) return names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

/// Parameters, moments and all that goes with them, as hashes and numbers.
std::string LastState(const Outcome& outcome) {
  return Contents(
      fs::path(outcome.Of("checkpoint").back()["folder"].get<std::string>()) /
      "manifest.json");
}

class Interrupted : public TrainerProgram {
 protected:
  Interrupted() {
    config_.folder = MakeFolder("straight");
    straight_ = Run(config_);
    EXPECT_EQ(straight_.exit_code, 0) << straight_.errors;
    config_.folder = MakeFolder("interrupted");
  }

  /// Starts training and ends it by that signal once `name` is there.
  Outcome InterruptAt(const std::string& name, int signal) const {
    const pid_t child = Start(spec::TrainerConfigJson(config_));
    const fs::path wanted = fs::path(*config_.folder) / name;
    EXPECT_TRUE(WaitUntil(child, [&] { return fs::exists(wanted); }));
    kill(child, signal);
    return Finish(child, config_.folder);
  }

  /// Another attempt goes on from what the first has left.
  Outcome GoOn() {
    config_.resume = fs::path(*config_.folder) / "checkpoints";
    config_.folder = MakeFolder("resumed");
    return Run(config_);
  }

  void ExpectSameEnd(const Outcome& resumed) const {
    EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
    std::vector<json> expected = Comparable(straight_);
    const std::vector<json> events = Comparable(resumed);
    ASSERT_GE(expected.size(), events.size());
    expected.erase(expected.begin(), expected.end() - std::ssize(events));
    EXPECT_EQ(events, expected);
    EXPECT_EQ(LastState(resumed), LastState(straight_));
  }

  spec::TrainerConfig config_ =
      SmallConfig({{"steps", int64_t{150}},
                   {"eval_every", int64_t{25}},
                   {"eval_windows", int64_t{4}},
                   {"log_every", int64_t{7}},
                   {"checkpoint_every", int64_t{20}}});
  Outcome straight_;
};

TEST_F(Interrupted, KilledTrainerGoesOnBitForBit) {
  InterruptAt("checkpoints/step-000000040", SIGKILL);
  const Outcome resumed = GoOn();
  EXPECT_THAT(resumed.errors, HasSubstr("going on from step "));
  ExpectSameEnd(resumed);
}

TEST_F(Interrupted, StoppedTrainerKeepsWhatItHasDone) {
  const Outcome stopped = InterruptAt("checkpoints/step-000000020", SIGTERM);
  EXPECT_EQ(stopped.Of("end")[0]["outcome"], "cancelled");
  const Outcome resumed = GoOn();
  ExpectSameEnd(resumed);
  // It went on from the step where it was stopped: each step is told once.
  EXPECT_EQ(stopped.Of("step").size() + resumed.Of("step").size(),
            straight_.Of("step").size());
}

TEST_F(Interrupted, DamagedCheckpointIsSetAsideForTheOneBefore) {
  InterruptAt("checkpoints/step-000000060", SIGKILL);
  const fs::path folder = fs::path(*config_.folder) / "checkpoints";
  const std::string newest = NamesIn(*config_.folder).back();
  const fs::path file = folder / newest / "moments.safetensors";
  std::string bytes = Contents(file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  std::ofstream(file, std::ios::binary) << bytes;
  const Outcome resumed = GoOn();
  EXPECT_THAT(resumed.errors, HasSubstr("set aside as damaged-" + newest));
  EXPECT_TRUE(fs::exists(folder / ("damaged-" + newest)));
  ExpectSameEnd(resumed);
}

TEST_F(Interrupted, CheckpointsOfAnotherCellAreLeftAlone) {
  InterruptAt("checkpoints/step-000000020", SIGKILL);
  const auto before = NamesIn(*config_.folder);
  spec::GivenSettings other = config_.settings.values();
  other["lr"] = 2e-2;
  config_.settings = spec::Settings(other);
  const Outcome fresh = GoOn();
  EXPECT_EQ(fresh.exit_code, 0);
  EXPECT_THAT(fresh.errors, HasSubstr("training begins at step 0"));
  EXPECT_EQ(fresh.Of("step").front()["step"], 7);
  EXPECT_EQ(NamesIn(config_.resume->substr(0, config_.resume->rfind('/'))),
            before);
}

TEST_F(TrainerProgram, TheNewestCheckpointsStayAndTheBestOfEachReplica) {
  spec::TrainerConfig config = SmallConfig({{"steps", int64_t{60}},
                                            {"eval_every", int64_t{10}},
                                            {"lr", 3.0},
                                            {"lr_min", 3.0},
                                            {"checkpoint_every", int64_t{10}}});
  config.folder = MakeFolder("attempt");
  const Outcome outcome = Run(config);
  EXPECT_EQ(outcome.Of("checkpoint").size(), 6U) << outcome.errors;
  std::set<std::string> expected = {"step-000000050", "step-000000060"};
  for (const json& result : outcome.Of("result")) {
    const int64_t best = result["best_step"];
    expected.insert("step-0000000" + std::to_string(best));
  }
  const auto names = NamesIn(*config.folder);
  EXPECT_EQ(std::set(names.begin(), names.end()), expected);
  EXPECT_GT(expected.size(), 2U) << "no replica got worse: a weak test";
}

TEST_F(TrainerProgram, ByItselfItKeepsOnlyWhatIsNotFinished) {
  spec::TrainerConfig config =
      SmallConfig({{"steps", int64_t{2000}}, {"eval_every", int64_t{2000}}});
  config.folder = MakeFolder("stopped");
  const pid_t child = Start(spec::TrainerConfigJson(config));
  ASSERT_TRUE(WaitUntil(child, [&] {
    return Contents(folder_ / "stopped/events.jsonl").find("\"step\"") !=
           std::string::npos;
  })) << Contents(folder_ / "err");
  kill(child, SIGTERM);
  const Outcome stopped = Finish(child, config.folder);
  EXPECT_EQ(stopped.Of("checkpoint").size(), 1U) << stopped.errors;
  EXPECT_EQ(NamesIn(*config.folder).size(), 1U);

  config = SmallConfig();
  config.folder = MakeFolder("finished");
  EXPECT_EQ(Run(config).exit_code, 0);
  EXPECT_TRUE(NamesIn(*config.folder).empty());
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

}  // namespace
}  // namespace leadline::trainer
