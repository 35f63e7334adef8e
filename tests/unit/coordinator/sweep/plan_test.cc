#include "coordinator/sweep/plan.h"

#include <set>

#include <gmock/gmock.h>

#include "model/spec/identity.h"
#include "tests/unit/coordinator/sweep/sweep_text.h"

namespace leadline::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<std::string> Methods(const Plan& plan) {
  std::vector<std::string> labels;
  for (const PlannedCell& cell : plan.list) labels.push_back(cell.method_label);
  return labels;
}

std::vector<std::string> Hashes(const Plan& plan) {
  std::vector<std::string> hashes;
  for (const PlannedCell& cell : plan.list) hashes.push_back(cell.hash);
  return hashes;
}

spec::Settings SettingsOf(const PlannedCell& cell) {
  return std::get<spec::Settings>(spec::ReadSettingsJson(cell.settings_json));
}

std::string FirstProblem(const std::string& text) {
  const Planning planning = MakePlan(SweepOf(text));
  return planning.ok() ? "none" : planning.problems[0].message;
}

TEST(MakePlan, ListsCellsInTheOrderOfTheAxes) {
  const Plan plan = PlanOf(
      "seeds: 3\naxes:\n  depth: [4, 2]\n  dataset: [recall, iid27]\n"
      "  method: [prenorm, rezero]\n");
  EXPECT_EQ(plan.cells, 8);
  EXPECT_EQ(plan.trials, 24);
  EXPECT_THAT(plan.seeds, ElementsAre(0, 1, 2));
  ASSERT_THAT(plan.list, SizeIs(8));
  EXPECT_EQ(plan.list[0].axes_json,
            R"({"depth":"4","dataset":"recall","method":"prenorm"})");
  EXPECT_EQ(plan.list[1].method_label, "rezero");
  EXPECT_EQ(plan.list[2].dataset_label, "iid27");
  EXPECT_EQ(plan.list[4].depth, 2);
  EXPECT_EQ(plan.list[7].number, 8);
}

TEST(MakePlan, SeedsAreNoPartOfACell) {
  const std::string axes =
      "settings: {method: prenorm, dataset: iid27, depth: 2}\n";
  const Plan plan = PlanOf("seeds: 5\n" + axes);
  EXPECT_EQ(plan.cells, 1);
  EXPECT_EQ(plan.trials, 5);
  EXPECT_EQ(Hashes(plan), Hashes(PlanOf("seeds: [7, 42]\n" + axes)));
  EXPECT_THAT(PlanOf("seeds: [7, 42]\n" + axes).seeds, ElementsAre(7, 42));
}

TEST(MakePlan, AdvancesZippedAxesTogether) {
  const Plan plan = PlanOf(
      "seeds: 1\naxes:\n  depth: [2, 4, 8]\n  method: [prenorm, rezero]\n"
      "  lr: [1e-3, 8e-4, 6e-4]\n  dataset: [iid27]\nzip: [[depth, lr]]\n");
  EXPECT_EQ(plan.cells, 6);
  ASSERT_THAT(plan.list, SizeIs(6));
  EXPECT_EQ(SettingsOf(plan.list[2]).Number("lr"), 8e-4);
  EXPECT_EQ(plan.list[2].depth, 4);
  EXPECT_EQ(plan.list[5].axes_json,
            R"({"depth":"8","method":"rezero","lr":"6e-4",)"
            R"("dataset":"iid27"})");
}

TEST(MakePlan, LeavesOutExcludedCells) {
  const Plan plan = PlanOf(
      "seeds: 2\naxes:\n  depth: [2, 4]\n  dataset: [iid27, recall]\n"
      "  method: [prenorm, {name: wav, rho: 2}, {name: wav, rho: 4}]\n"
      "exclude:\n  - {depth: 4, method: [prenorm, {name: wav, rho: 2}]}\n"
      "  - {method: wav, dataset: recall}\n  - {depth: 4, method: prenorm}\n");
  EXPECT_EQ(plan.cells, 5);
  EXPECT_EQ(plan.excluded, 7);
  EXPECT_THAT(plan.rules, ElementsAre(testing::Field(&RuleCount::cells, 4),
                                      testing::Field(&RuleCount::cells, 4),
                                      testing::Field(&RuleCount::cells, 2)));
  EXPECT_THAT(Methods(plan), ElementsAre("prenorm", "wav(rho=2)", "wav(rho=4)",
                                         "prenorm", "wav(rho=4)"));
}

TEST(MakePlan, AppliesWhenInOrder) {
  const Plan plan = PlanOf(
      "seeds: 1\nsettings: {lr: 1e-3, blocks: 2}\naxes:\n  depth: [4, 8]\n"
      "  method: [prenorm, wav]\n  dataset: [iid27]\nwhen:\n"
      "  - {match: {method: wav}, set: {lr: 2e-3, block_sublayers: 4}}\n"
      "  - {match: {depth: 8}, set: {lr: 3e-3}}\n");
  ASSERT_THAT(plan.list, SizeIs(4));
  EXPECT_EQ(SettingsOf(plan.list[0]).Number("lr"), 1e-3);
  EXPECT_EQ(SettingsOf(plan.list[1]).Number("lr"), 2e-3);
  EXPECT_EQ(SettingsOf(plan.list[2]).Number("lr"), 3e-3);
  EXPECT_EQ(SettingsOf(plan.list[3]).Number("lr"), 3e-3) << "the later wins";
  EXPECT_EQ(SettingsOf(plan.list[3]).Integer("block_sublayers"), 4)
      << "replaces blocks";
  EXPECT_EQ(plan.rules[0].rule, "when[0]");
  EXPECT_EQ(plan.rules[0].cells, 2);
}

TEST(MakePlan, MergesCellsThatResolveAlike) {
  const Plan plan = PlanOf(
      "seeds: 2\naxes:\n  rho: [2, 4]\n  method: [prenorm, wav]\n"
      "  dataset: [iid27]\n  depth: [4]\n");
  EXPECT_EQ(plan.cells, 3) << "prenorm has no rho";
  EXPECT_EQ(plan.trials, 6);
  EXPECT_EQ(plan.duplicates, 1);
  EXPECT_EQ(plan.list[0].duplicates, 1);
  EXPECT_THAT(Methods(plan),
              ElementsAre("prenorm", "wav(rho=2)", "wav(rho=4)"));
  EXPECT_EQ(plan.list[0].axes_json,
            R"({"method":"prenorm","dataset":"iid27","depth":"4"})");
}

TEST(MakePlan, BlockCountsOfOneLengthAreOneCell) {
  const Plan plan = PlanOf(
      "seeds: 1\naxes:\n  blocks: [6, 8]\n  method: [wav]\n  depth: [12]\n"
      "  dataset: [iid27]\n");
  EXPECT_EQ(plan.cells, 1);
  EXPECT_EQ(plan.duplicates, 1);
}

TEST(MakePlan, NestedOptionsAndAnAxisExpandToTheSameList) {
  const Plan nested = PlanOf(
      "seeds: 1\naxes:\n  depth: [4, 8]\n  method: [{name: wav, rho: 2}, "
      "{name: wav, rho: 4}]\n  dataset: [iid27]\n");
  const Plan flat = PlanOf(
      "seeds: 1\naxes:\n  depth: [4, 8]\n  rho: [2, 4]\n  method: [wav]\n"
      "  dataset: [iid27]\n");
  const Plan fixed = PlanOf(
      "seeds: 1\nsettings: {method: wav, dataset: iid27}\naxes:\n"
      "  depth: [4, 8]\n  rho: [2, 4]\n");
  EXPECT_EQ(Hashes(nested), Hashes(flat));
  EXPECT_EQ(Hashes(nested), Hashes(fixed));
  EXPECT_EQ(Methods(nested), Methods(flat));
  EXPECT_EQ(Methods(nested), Methods(fixed));
}

TEST(MakePlan, ShowsAMethodsOptionsOnlyWhereTheyDiffer) {
  EXPECT_THAT(
      Methods(PlanOf("seeds: 1\naxes:\n  method: [prenorm, {name: wav, rho: 2}]"
                     "\n  dataset: [iid27]\n")),
      ElementsAre("prenorm", "wav"));
  EXPECT_THAT(
      Methods(PlanOf("seeds: 1\naxes:\n  method: [wav, {name: wav, "
                     "rho: 2}, {name: wav, detail_bias: -inf}]\n"
                     "  dataset: [iid27]\n")),
      ElementsAre("wav(detail_bias=-2,rho=4)", "wav(detail_bias=-2,rho=2)",
                  "wav(detail_bias=-inf,rho=4)"));
}

TEST(MakePlan, TellsApartDataOfOneName) {
  const Plan plan = PlanOf(
      "seeds: 1\naxes:\n  method: [prenorm]\n  dataset: [{path: a/x.txt}, "
      "{path: b/x.txt}, {path: y.txt}]\n");
  ASSERT_THAT(plan.list, SizeIs(3));
  EXPECT_EQ(plan.list[0].dataset_label, "x#1");
  EXPECT_EQ(plan.list[1].dataset_label, "x#2");
  EXPECT_EQ(plan.list[2].dataset_label, "y");
  EXPECT_TRUE(plan.list[0].without_embedding);
  EXPECT_EQ(plan.list[1].dataset.path, "/data/b/x.txt");
}

TEST(MakePlan, SizesCohortsByTheSweepAlone) {
  const auto size = [](const std::string& seeds, const std::string& cohort) {
    return PlanOf("seeds: " + seeds +
                  "\nsettings: {method: prenorm, dataset: iid27, cohort: " +
                  cohort + "}\n")
        .list[0]
        .cohort_size;
  };
  EXPECT_EQ(size("5", "auto"), 5);
  EXPECT_EQ(size("20", "auto"), 8);
  EXPECT_EQ(size("20", "16"), 16);
  EXPECT_EQ(size("2", "16"), 2);
  EXPECT_EQ(SplitIntoCohorts(20, 8),
            (std::vector<CohortSeeds>{{0, 8}, {8, 8}, {16, 4}}));
  EXPECT_EQ(SplitIntoCohorts(3, 1),
            (std::vector<CohortSeeds>{{0, 1}, {1, 1}, {2, 1}}));
}

TEST(MakePlan, ListsManyTrialsOnlyWhenAsked) {
  const std::string text =
      "seeds: 50000\naxes:\n  depth: [1, 2, 3]\n  method: [prenorm]\n"
      "  dataset: [iid27]\n";
  const Plan counted = PlanOf(text);
  EXPECT_EQ(counted.trials, 150'000);
  EXPECT_FALSE(counted.cells_listed);
  EXPECT_FALSE(counted.duplicates.has_value());
  EXPECT_FALSE(counted.flops.has_value());
  const Plan listed = PlanOf(text, {.list_all = true});
  EXPECT_EQ(listed.trials, 150'000);
  EXPECT_THAT(listed.list, SizeIs(3));
  EXPECT_THAT(listed.seeds, SizeIs(50'000));
}

TEST(MakePlan, RefusesMoreThanCanBeStored) {
  const Sweep sweep = SweepOf(
      "seeds: 1000000\naxes:\n  depth: [1, 2, 3, 4, 5, 6]\n"
      "  method: [prenorm]\n  dataset: [iid27]\n");
  EXPECT_TRUE(MakePlan(sweep).ok());
  const Planning all = MakePlan(sweep, {.list_all = true});
  ASSERT_THAT(all.problems, SizeIs(1));
  EXPECT_THAT(all.problems[0].message, HasSubstr("6000000 trials"));
}

TEST(MakePlan, RefusesGridsBeyondCounting) {
  std::string text =
      "seeds: 1000000\nsettings: {dataset: iid27}\naxes:\n"
      "  method: [prenorm]\n";
  for (const char* key : {"lr", "weight_decay", "norm_eps", "init_std"}) {
    text += std::string("  ") + key + ": [";
    for (int i = 1; i <= 1000; ++i) {
      text += (i > 1 ? ", 0.000" : "0.000") + std::to_string(i);
    }
    text += "]\n";
  }
  EXPECT_THAT(FirstProblem(text), HasSubstr("more than 10^15"));
}

TEST(MakePlan, AddsUpTheWork) {
  const Plan plan = PlanOf(
      "seeds: 3\naxes:\n  depth: [2, 4]\n  method: [prenorm]\n"
      "  dataset: [iid27]\n");
  EXPECT_DOUBLE_EQ(*plan.flops, 3 * (plan.list[0].flops + plan.list[1].flops));
}

TEST(MakePlan, ForecastsTheMemoryOfAFullCohort) {
  const auto plan_of = [](const std::string& rest) {
    return PlanOf(
        "seeds: 9\naxes:\n  depth: [2, 4]\n  method: [prenorm]\n"
        "  dataset: [iid27]\n" +
        rest);
  };
  const Plan plan = plan_of("");
  EXPECT_EQ(plan.list[0].cohort_size, 8);
  EXPECT_GT(plan.list[0].memory_bytes, 8 * 4 * 4 * plan.list[0].parameters);
  EXPECT_EQ(*plan.memory_bytes, plan.list[1].memory_bytes);
  EXPECT_GT(plan.list[1].memory_bytes, plan.list[0].memory_bytes);
  const Plan solo = plan_of("settings: {cohort: 1}\n");
  EXPECT_LT(solo.list[0].memory_bytes, plan.list[0].memory_bytes / 7);
}

TEST(MakePlan, ReportsACellThatCannotBeOnceByItsCause) {
  const Planning planning = MakePlan(
      SweepOf("seeds: 1\naxes:\n  depth: [1, 2]\n  dataset: [iid27, recall]\n"
              "  method: [prenorm, wav]\n"));
  ASSERT_THAT(planning.problems, SizeIs(1));
  EXPECT_EQ(planning.problems[0].at, (Position{6, 21}));
  EXPECT_THAT(planning.problems[0].message, HasSubstr("(depth 1)"));
}

}  // namespace
}  // namespace leadline::sweep
