// What one rank alone meets is the class of all, and none of them hangs.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cell_settings.h"
#include "tests/unit/worker/trainer/rank_world.h"
#include "worker/trainer/determinism_check.h"

namespace leadline::trainer {
namespace {

using collective::Communicator;
using leadline::testing::CellSettings;
using ::testing::Each;
using ::testing::HasSubstr;

TEST(RepeatedOnRanks, OneThatIsDisturbedDecidesForAll) {
  std::vector<DeterminismReport> reports(3);
  std::vector<int> times(3);
  const auto errors = OnRanks(3, [&](Communicator& communicator) {
    const auto rank = static_cast<size_t>(communicator.rank());
    const model::Decoder decoder(CellSettings("prenorm"), 11, {1, 2},
                                 torch::kFloat64);
    reports[rank] = CheckDeterminism(
        decoder, {0, 1}, communicator,
        [&] {
          const torch::Tensor tokens = torch::ones({2, 1, 5}, torch::kInt64);
          for (const auto& parameter : decoder.parameters_in_order()) {
            torch::Tensor tensor = parameter.tensor;
            tensor.mutable_grad().reset();
          }
          const torch::Tensor loss_R =
              decoder.Forward(tokens).pow(2).sum({1, 2, 3});
          loss_R.sum().backward();
          // As a step of several ranks does.
          communicator.Barrier();
          const int shift = rank == 1 ? times[rank] : 0;
          ++times[rank];
          return ComputedStep{tokens + shift, loss_R};
        },
        RepeatTolerance("fp64"));
    communicator.Barrier();
  });
  EXPECT_THAT(errors, Each(""));
  EXPECT_THAT(times, Each(3));
  for (const DeterminismReport& report : reports) {
    EXPECT_EQ(report.determinism, Determinism::kDiffers);
  }
  EXPECT_EQ(reports[1].first, "tokens");
  EXPECT_EQ(reports[0].first, "");
  EXPECT_THAT(Explain(reports[0]), HasSubstr("on another rank"));
}

}  // namespace
}  // namespace leadline::trainer
