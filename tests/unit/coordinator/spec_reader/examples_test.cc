#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "coordinator/spec_reader/spec_reader.h"
#include "coordinator/sweep/plan.h"

namespace leadline::spec_reader {
namespace {

sweep::Sweep Read(const std::string& file) {
  std::ifstream stream(std::string(LEADLINE_SOURCE_DIR "/") + file);
  std::ostringstream text;
  text << stream.rdbuf();
  const Reading reading = ReadSweep(
      text.str(), "/data",
      [](const std::string&, const std::string&) -> absl::StatusOr<DataFacts> {
        return absl::NotFoundError("no files here");
      });
  for (const sweep::Problem& problem : reading.problems) {
    ADD_FAILURE() << ToText(problem, file);
  }
  return reading.sweep;
}

sweep::Plan PlanOf(const std::string& file) {
  const sweep::Planning planning = sweep::MakePlan(Read(file));
  for (const sweep::Problem& problem : planning.problems) {
    ADD_FAILURE() << ToText(problem, file);
  }
  return planning.plan;
}

TEST(Examples, QuickstartHasTwelveCellsOfTwoSeeds) {
  const sweep::Plan plan = PlanOf("examples/quickstart.yaml");
  EXPECT_EQ(plan.cells, 12);
  EXPECT_EQ(plan.trials, 24);
  EXPECT_EQ(plan.duplicates, 0);
  ASSERT_EQ(plan.list.size(), 12u);
  EXPECT_EQ(plan.list[0].depth, 4);
  EXPECT_EQ(plan.list[0].dataset_label, "grammar16");
  EXPECT_EQ(plan.list[0].method_label, "prenorm");
  EXPECT_EQ(plan.list[0].cohort_size, 2);
  EXPECT_FALSE(plan.list[0].without_embedding);
  EXPECT_EQ(plan.list[11].method_label, "wav");
  EXPECT_EQ(plan.list[11].axes_json,
            R"({"depth":"8","dataset":"grammar64","method":"wav"})");
}

TEST(Examples, DepthStudyIsPlannedWithoutItsTexts) {
  const sweep::Plan plan = PlanOf("examples/depth_study.yaml");
  EXPECT_EQ(plan.cells, 30);
  EXPECT_EQ(plan.trials, 150);
  ASSERT_EQ(plan.list.size(), 30u);
  EXPECT_EQ(plan.list[0].parameters, 12'596'224) << "prenorm, 12, text8";
  EXPECT_FALSE(plan.list[0].without_embedding);
  for (const sweep::PlannedCell& cell : plan.list) {
    EXPECT_EQ(cell.without_embedding, cell.dataset_label == "tinystories");
    EXPECT_EQ(cell.cohort_size, 5);
    EXPECT_GT(cell.flops, 1e15);
  }
}

TEST(Examples, HugeGridIsCountedAndNotExpanded) {
  const auto start = std::chrono::steady_clock::now();
  const sweep::Plan plan = PlanOf("tests/data/huge.yaml");
  const auto elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(plan.cells, 100'000'000);
  EXPECT_EQ(plan.trials, 1'000'000'000);
  EXPECT_FALSE(plan.duplicates.has_value());
  EXPECT_FALSE(plan.cells_listed);
  EXPECT_TRUE(plan.list.empty());
  EXPECT_TRUE(plan.seeds.empty());
  EXPECT_EQ(plan.axes.size(), 8u);
  EXPECT_LT(elapsed, std::chrono::seconds(1));
}

}  // namespace
}  // namespace leadline::spec_reader
