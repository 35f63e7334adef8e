#include "coordinator/analysis/warnings.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leadline::analysis {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CellSample Cell(const std::string& id, std::vector<SeedLoss> seeds) {
  CellSample cell{id,          std::ssize(seeds), 0, 0,
                  "nats/char", std::move(seeds),  ""};
  return cell;
}

TEST(Warnings, AWholeCellNeedsNone) {
  Warnings warnings(true);
  warnings.Add(Cell("s1.1", {{0, 1.5, "fp32"}, {1, 1.6, "fp32"}}));
  EXPECT_THAT(warnings.Lines(), IsEmpty());
}

TEST(Warnings, EqualLossesOfTwoSeedsAreNamed) {
  Warnings warnings(true);
  warnings.Add(Cell("s1.1", {{0, 1.5, ""}, {42, 1.6, ""}, {7, 1.5, ""}}));
  EXPECT_THAT(warnings.Lines(), ElementsAre(HasSubstr("s1.1 (seeds 0 and 7)")));
}

TEST(Warnings, LossesApartByOneBitAreTwo) {
  Warnings warnings(true);
  const double next = std::nextafter(1.5, 2.0);
  warnings.Add(Cell("s1.1", {{0, 1.5, ""}, {1, next, ""}}));
  EXPECT_THAT(warnings.Lines(), IsEmpty());
}

TEST(Warnings, EqualLossesOfTwoCellsAreFine) {
  Warnings warnings(true);
  warnings.Add(Cell("s1.1", {{0, 1.5, ""}}));
  warnings.Add(Cell("s1.2", {{0, 1.5, ""}}));
  EXPECT_THAT(warnings.Lines(), IsEmpty());
}

TEST(Warnings, DivergedAndFailedSeedsAreCounted) {
  Warnings warnings(false);
  CellSample cell = Cell("s1.1", {{0, 1.5, ""}});
  cell.planned = 3;
  cell.diverged = 1;
  cell.failed = 1;
  warnings.Add(cell);
  EXPECT_THAT(warnings.Lines(),
              ElementsAre(AllOf(HasSubstr("diverged"), HasSubstr("1 of 3")),
                          AllOf(HasSubstr("failed"), HasSubstr("1 of 3"))));
}

TEST(Warnings, SeedsAreMissingOnlyOnceNothingIsToCome) {
  CellSample cell = Cell("s1.1", {{0, 1.5, ""}});
  cell.planned = 3;
  Warnings running(false);
  running.Add(cell);
  EXPECT_THAT(running.Lines(), IsEmpty());
  Warnings ended(true);
  ended.Add(cell);
  EXPECT_THAT(ended.Lines(), ElementsAre(HasSubstr("s1.1 (2 of 3)")));
}

TEST(Warnings, MixedNumericsAndUnitsAreNamed) {
  Warnings warnings(true);
  warnings.Add(Cell("s1.1", {{0, 1.5, "fused-fp32"}, {1, 1.6, "bf16"}}));
  CellSample bytes = Cell("s1.2", {});
  bytes.unit = "nats/byte";
  warnings.Add(bytes);
  EXPECT_THAT(warnings.Lines(), ElementsAre(HasSubstr("fused-fp32, bf16"),
                                            HasSubstr("nats/char, nats/byte")));
}

TEST(Warnings, SayOnceWhatIsSaidBesideEveryResultOfAMethod) {
  Warnings warnings(true);
  for (const char* method : {"wav(rho=2)", "block_layerscale",
                             "block_layerscale(init=1)", "no_method"}) {
    CellSample cell = Cell("s1.1", {{0, 1.5, ""}});
    cell.method = method;
    warnings.Add(cell);
  }
  EXPECT_THAT(warnings.Lines(),
              ElementsAre(HasSubstr("block_layerscale is our reading")));
}

TEST(Warnings, AHugeSweepStillFitsOnAScreen) {
  Warnings warnings(true);
  for (int i = 1; i <= 100'000; ++i) {
    CellSample cell = Cell("s1." + std::to_string(i), {});
    cell.planned = 2;
    cell.failed = 2;
    warnings.Add(cell);
  }
  ASSERT_EQ(warnings.Lines().size(), 1U);
  EXPECT_THAT(warnings.Lines()[0], HasSubstr("and 99995 more cells"));
  EXPECT_LT(warnings.Lines()[0].size(), 200U);
}

}  // namespace
}  // namespace leadline::analysis
