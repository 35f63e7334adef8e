// init_from: from a folder in the sweep file to a hash in the cell.

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "coordinator/spec_reader/spec_reader.h"
#include "coordinator/sweep/plan.h"
#include "model/spec/identity.h"

namespace leadline::spec_reader {
namespace {

using testing::HasSubstr;

/// The hash of a folder's checkpoint tells its last letter.
std::string HashOf(const std::string& path) {
  return std::string(64, path.back());
}

/// A checkpoint of depth 2 and three seeds, or of one where the path ends in b.
absl::StatusOr<CheckpointFacts> Inspect(const std::string& path) {
  CheckpointFacts facts;
  facts.hash = HashOf(path);
  facts.start.settings = spec::Resolve({{"method", std::string("prenorm")},
                                        {"depth", int64_t{2}},
                                        {"norm_eps", 1e-6}})
                             .settings;
  facts.start.tokenizer = "char";
  facts.start.vocabulary = 27;
  facts.start.seeds = {0, 1, 2};
  if (path.ends_with("b")) facts.start.seeds = {7};
  return facts;
}

Reading Read(const std::string& rest) {
  return ReadSweep(
      "leadline: 1\nseeds: 3\n" + rest, "/data",
      [](const std::string&, const std::string&) -> absl::StatusOr<DataFacts> {
        return DataFacts{std::string(64, '0'), {}};
      },
      &Inspect);
}

std::string Settings(const std::string& more,
                     const std::string& method = "prenorm") {
  return "settings: {method: " + method +
         ", dataset: iid27, depth: 2, norm_eps: 1e-6, " + more + "}\n";
}

sweep::Planning PlanOf(const std::string& rest) {
  const Reading reading = Read(rest);
  for (const sweep::Problem& problem : reading.problems) {
    ADD_FAILURE() << ToText(problem, "sweep");
  }
  return sweep::MakePlan(reading.sweep);
}

std::string FirstProblem(const std::string& rest) {
  const sweep::Planning planning = PlanOf(rest);
  return planning.ok() ? "none" : planning.problems.front().message;
}

TEST(InitFrom, CellHoldsTheHashAndThePathIsNoPartOfIt) {
  const sweep::Plan here = PlanOf(Settings("init_from: runs/a/")).plan;
  ASSERT_EQ(here.list.size(), 1U);
  const auto settings = std::get<spec::Settings>(
      spec::ReadSettingsJson(here.list[0].settings_json));
  EXPECT_EQ(settings.Word("init_from"), HashOf("a"));
  EXPECT_EQ(settings.Word("init_from_path"), "/data/runs/a");
  EXPECT_TRUE(spec::Resolve(settings.values()).errors.empty());

  const sweep::Plan there = PlanOf(Settings("init_from: /else/a")).plan;
  EXPECT_EQ(here.list[0].hash, there.list[0].hash);
  const sweep::Plan other = PlanOf(Settings("init_from: b")).plan;
  EXPECT_NE(here.list[0].hash, other.list[0].hash);
  const sweep::Plan none = PlanOf(Settings("init_from: off")).plan;
  EXPECT_NE(here.list[0].hash, none.list[0].hash);
  EXPECT_EQ(sweep::CanonicalHash(Read(Settings("init_from: runs/a")).sweep),
            sweep::CanonicalHash(Read(Settings("init_from: /else/a")).sweep));
}

TEST(InitFrom, IsAnAxisLikeOthers) {
  const sweep::Plan plan =
      PlanOf(Settings("lr: 1e-3") + "axes: {init_from: [off, a, b]}\n").plan;
  ASSERT_EQ(plan.list.size(), 3U);
  EXPECT_EQ(plan.list[1].axes[0].second, std::string(12, 'a'));
}

TEST(InitFrom, WhatDoesNotFitIsRefusedWithTheReason) {
  EXPECT_THAT(FirstProblem(Settings("init_from: a", "rezero")),
              HasSubstr("is of method prenorm, this cell of rezero"));
  EXPECT_THAT(
      FirstProblem("settings: {method: prenorm, dataset: iid27, depth: 2, "
                   "init_from: a}\n"),
      HasSubstr("has norm_eps 1e-06, this cell 1e-12"));
  EXPECT_THAT(FirstProblem(Settings("d_model: 64, n_heads: 4, init_from: a")),
              HasSubstr("has d_model 256, this cell 64"));
  EXPECT_THAT(
      FirstProblem("settings: {method: prenorm, depth: 2, norm_eps: 1e-6, "
                   "dataset: grammar16, init_from: a}\n"),
      HasSubstr("has a vocabulary of 27, the data set grammar16"));
  EXPECT_THAT(
      FirstProblem("settings: {method: prenorm, depth: 2, norm_eps: 1e-6, "
                   "dataset: {path: t, tokenizer: byte}, init_from: a}\n"),
      HasSubstr("has the tokenizer char, the data set t has byte"));
}

TEST(InitFrom, OneReplicaStartsAllSeedsSeveralEachTheirOwn) {
  const auto seeds = [](const std::string& list, const std::string& folder) {
    const Reading reading = ReadSweep(
        "leadline: 1\nseeds: " + list + "\n" + Settings("init_from: " + folder),
        "/data",
        [](const std::string&, const std::string&)
            -> absl::StatusOr<DataFacts> { return DataFacts{}; },
        &Inspect);
    const sweep::Planning planning = sweep::MakePlan(reading.sweep);
    return planning.ok() ? "none" : planning.problems.front().message;
  };
  EXPECT_EQ(seeds("[2, 0]", "a"), "none");
  EXPECT_THAT(seeds("[2, 5]", "a"),
              HasSubstr("has no replica of seed 5; it has those of 0, 1, 2"));
  EXPECT_EQ(seeds("[2, 5]", "b"), "none");
}

TEST(InitFrom, ExtendingAFinishedTrialMakesACellOfItsOwn) {
  const std::string base =
      "settings: {method: prenorm, dataset: iid27, norm_eps: 1e-6, depth: 2}\n";
  const auto identities = [&](const std::string& axes) {
    std::vector<std::string> hashes;
    const sweep::Plan plan = PlanOf(base + axes).plan;
    for (const sweep::PlannedCell& cell : plan.list) {
      hashes.push_back(cell.hash);
    }
    return hashes;
  };
  const auto first = identities("axes: {steps: [5000]}\n");
  const auto longer =
      identities("axes: {init_from: [runs/a], steps: [2000]}\n");
  const auto both = identities(
      "axes: {init_from: [off, runs/a], steps: [5000, 2000]}\n"
      "zip: [[init_from, steps]]\n");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0], first.at(0));
  EXPECT_EQ(both[1], longer.at(0));
  EXPECT_NE(both[0], both[1]);
  // What was trained from other weights for as long is another cell again.
  EXPECT_NE(longer, identities("axes: {init_from: [runs/c], steps: [2000]}\n"));
}

TEST(InitFrom, OfAFinishedCohortSomeSeedsCanBeExtended) {
  const Reading reading = ReadSweep(
      "leadline: 1\nseeds: [0, 2]\n" + Settings("init_from: a, steps: 2000"),
      "/data",
      [](const std::string&, const std::string&) -> absl::StatusOr<DataFacts> {
        return DataFacts{};
      },
      &Inspect);
  const sweep::Planning planning = sweep::MakePlan(reading.sweep);
  ASSERT_TRUE(planning.ok()) << planning.problems.front().message;
  EXPECT_EQ(planning.plan.trials, 2);
}

TEST(InitFrom, TrainingItselfMayDiffer) {
  EXPECT_EQ(
      FirstProblem(Settings("init_from: a, lr: 5e-5, steps: 7, "
                            "context: 32, dropout: 0.1, precision: bf16")),
      "none");
}

TEST(InitFrom, ExampleOfFineTuningIsPlanned) {
  std::ifstream stream(LEADLINE_SOURCE_DIR "/examples/fine_tune.yaml");
  std::ostringstream text;
  text << stream.rdbuf();
  const Reading reading = ReadSweep(
      text.str(), "/data",
      [](const std::string&, const std::string&) -> absl::StatusOr<DataFacts> {
        return absl::NotFoundError("no files here");
      },
      [](const std::string& path) -> absl::StatusOr<CheckpointFacts> {
        CheckpointFacts facts;
        facts.hash = HashOf(path);
        facts.start.settings =
            spec::Resolve({{"method", std::string("block_attnres")},
                           {"eps_mode", std::string("compensated")}})
                .settings;
        facts.start.tokenizer = "char";
        facts.start.vocabulary = 27;
        facts.start.seeds = {0};
        return facts;
      });
  for (const sweep::Problem& problem : reading.problems) {
    ADD_FAILURE() << ToText(problem, "fine_tune.yaml");
  }
  const sweep::Planning planning = sweep::MakePlan(reading.sweep);
  ASSERT_TRUE(planning.ok()) << planning.problems.front().message;
  EXPECT_EQ(planning.plan.cells, 2);
}

}  // namespace
}  // namespace leadline::spec_reader
