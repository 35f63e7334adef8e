// A stream that no seed rules is found, and named.

#include "worker/trainer/determinism_check.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cell_settings.h"
#include "worker/collective/communicator.h"
#include "worker/trainer/batches.h"
#include "worker/trainer/gradient.h"

namespace leadline::trainer {
namespace {

using leadline::testing::CellSettings;
using ::testing::HasSubstr;

constexpr int64_t kVocabulary = 11;
const std::vector<int64_t> kSeeds = {4, 5};

std::vector<uint16_t> Text() {
  std::vector<uint16_t> symbols;
  for (int i = 0; i < 300; ++i) {
    symbols.push_back(static_cast<uint16_t>(i * i % kVocabulary));
  }
  return symbols;
}

/// A training whose steps can be computed again, with something amiss or not.
class Repeated : public ::testing::Test {
 protected:
  DeterminismReport Check(const std::function<void()>& amiss = [] {}) {
    return CheckDeterminism(
        decoder_, alive_, *alone_,
        [&] {
          const ComputedStep computed{batches_.Read(step_, 0, 2).tokens_RBT,
                                      gradient_.Compute(step_)};
          amiss();
          ++times_;
          return computed;
        },
        RepeatTolerance("fp64"));
  }

  torch::Tensor GradientOf(const std::string& name) const {
    for (const auto& parameter : decoder_.parameters_in_order()) {
      if (parameter.name == name) return parameter.tensor.grad();
    }
    throw std::invalid_argument(name);
  }

  std::string LastName() const {
    return decoder_.parameters_in_order().back().name;
  }
  std::string FirstName() const {
    return decoder_.parameters_in_order().front().name;
  }

  std::vector<uint16_t> text_ = Text();
  spec::Settings settings_ = CellSettings(
      "block_attnres", {{"dropout", 0.1}, {"batch_sequences", int64_t{2}}});
  model::Decoder decoder_{settings_, kVocabulary, kSeeds, torch::kFloat64};
  Batches batches_{text_, kSeeds, settings_.Integer("context")};
  std::unique_ptr<collective::Communicator> alone_ =
      collective::MakeSoloCommunicator();
  Gradient gradient_{decoder_, settings_, batches_, *alone_, torch::kCPU};
  std::vector<int64_t> alive_ = {0, 1};
  int64_t step_ = 3;
  int times_ = 0;
};

TEST_F(Repeated, TheSameBitsAreBitExactAndTwoComputationsTellSo) {
  const DeterminismReport report = Check();
  EXPECT_EQ(report.determinism, Determinism::kBitExact);
  EXPECT_EQ(report.first, "");
  EXPECT_EQ(times_, 2);
}

TEST_F(Repeated, DataThatNoSeedRulesAreNamed) {
  const DeterminismReport report = Check([&] { ++step_; });
  EXPECT_EQ(report.determinism, Determinism::kDiffers);
  EXPECT_EQ(report.first, "tokens");
  EXPECT_THAT(Explain(report),
              HasSubstr("(differs): the first to differ: tokens"));
}

TEST_F(Repeated, MasksThatNoSeedRulesAreSeenInTheLoss) {
  const std::vector<int64_t> same = {7, 7};
  const Batches unchanging(text_, same, settings_.Integer("context"));
  int64_t step = 0;
  const DeterminismReport report = CheckDeterminism(
      decoder_, alive_, *alone_,
      [&] {
        // The same tokens, and masks of another step each time.
        const Batch batch = unchanging.Read(3, 0, 2);
        model::ForwardOptions options;
        options.training = true;
        options.step = step++;
        const torch::Tensor losses_RBT = model::TokenLosses(
            decoder_.Forward(batch.tokens_RBT, options), batch.targets_RBT);
        for (const auto& parameter : decoder_.parameters_in_order()) {
          torch::Tensor tensor = parameter.tensor;
          tensor.mutable_grad().reset();
        }
        losses_RBT.sum().backward();
        return ComputedStep{batch.tokens_RBT, losses_RBT.mean({1, 2})};
      },
      RepeatTolerance("fp64"));
  EXPECT_EQ(report.determinism, Determinism::kDiffers);
  EXPECT_EQ(report.first, "loss");
  EXPECT_GT(report.largest, 1e-3);
}

TEST_F(Repeated, TheLastBitOfOneGradientIsWithinTolerance) {
  const DeterminismReport report = Check([&] {
    torch::Tensor values = GradientOf(FirstName()).view({-1});
    for (int i = 0; i < times_; ++i) {
      values[0] = torch::nextafter(values[0], values[0] + 1);
    }
  });
  EXPECT_EQ(report.determinism, Determinism::kWithinTolerance);
  EXPECT_EQ(report.first, "gradient of " + FirstName());
  EXPECT_GT(report.largest, 0);
  EXPECT_LT(report.largest, 1e-12);
  EXPECT_EQ(times_, 3);
}

TEST_F(Repeated, OfSeveralGradientsTheOneComputedFirstIsNamed) {
  const DeterminismReport report = Check([&] {
    for (const std::string& name : {FirstName(), LastName()}) {
      GradientOf(name).add_(times_);
    }
  });
  EXPECT_EQ(report.determinism, Determinism::kDiffers);
  EXPECT_EQ(report.first, "gradient of " + LastName());
}

TEST_F(Repeated, WhatIsNoNumberIsNotNearWhateverElseIs) {
  const DeterminismReport report = Check([&] {
    if (times_ > 0) GradientOf(FirstName()).fill_(times_ > 1 ? 1 : NAN);
    torch::Tensor values = GradientOf(LastName()).view({-1});
    values[0] += 1e-15 * times_ * values[0];
  });
  EXPECT_EQ(report.determinism, Determinism::kDiffers);
}

// Two that agree show that the one before was no rounding.
TEST_F(Repeated, OneComputationThatWentWrongDiffers) {
  for (const double by : {1e3, 1e-16}) {
    times_ = 0;
    const DeterminismReport report = Check([&] {
      if (times_ == 0) GradientOf(FirstName()).mul_(1 + by).add_(by);
    });
    EXPECT_EQ(report.determinism, Determinism::kDiffers) << by;
    EXPECT_EQ(report.first, "gradient of " + FirstName());
  }
}

TEST_F(Repeated, ReplicasThatHaveEndedDoNotCount) {
  const auto amiss = [&] {
    GradientOf(FirstName())[1].fill_(times_ % 2 == 0 ? NAN : 1);
  };
  EXPECT_EQ(Check(amiss).determinism, Determinism::kDiffers);
  alive_ = {0};
  EXPECT_EQ(Check(amiss).determinism, Determinism::kBitExact);
  alive_ = {};
  times_ = 0;
  EXPECT_EQ(Check(amiss).determinism, Determinism::kUnknown);
  EXPECT_EQ(times_, 0);
}

// A large replica must not hide what happens to a small one.
TEST_F(Repeated, EachReplicaIsMeasuredByItsOwnNorm) {
  const DeterminismReport report = Check([&] {
    GradientOf(FirstName())[0].fill_(1e20);
    GradientOf(FirstName())[1].fill_(1 + times_);
  });
  EXPECT_EQ(report.determinism, Determinism::kDiffers);
  EXPECT_GT(report.largest, 0.1);
}

}  // namespace
}  // namespace leadline::trainer
