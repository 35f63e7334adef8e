// Gradients of several ranks are those of one, however they travel.

#include "worker/trainer/gradient_buckets.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/decoder.h"
#include "tests/support/cell_settings.h"
#include "tests/unit/worker/trainer/rank_world.h"
#include "worker/trainer/batches.h"
#include "worker/trainer/gradient.h"
#include "worker/trainer/gradient_order.h"

namespace leadline::trainer {
namespace {

using collective::Communicator;
using leadline::testing::CellSettings;
using ::testing::Each;
using torch::Tensor;

constexpr int64_t kVocabulary = 11;
const std::vector<int64_t> kSeeds = {4, 5};

std::vector<uint16_t> Text() {
  std::vector<uint16_t> symbols;
  for (int i = 0; i < 300; ++i) {
    symbols.push_back(static_cast<uint16_t>(i * i % kVocabulary));
  }
  return symbols;
}

struct Gradients {
  Tensor loss_R;
  std::vector<Tensor> of_parameters;  // undefined where there is none
};

Gradients Compute(const spec::Settings& settings, Communicator& communicator,
                  bool overlap) {
  const std::vector<uint16_t> text = Text();
  const model::Decoder decoder(settings, kVocabulary, kSeeds, torch::kFloat64);
  const Batches batches(text, kSeeds, settings.Integer("context"));
  Gradient gradient(decoder, settings, batches, communicator, torch::kCPU,
                    overlap);
  Gradients found;
  // A second step meets what the first has left.
  for (int64_t step = 0; step < 2; ++step) {
    found.loss_R = gradient.Compute(step);
  }
  for (const model::NamedParameter& parameter : decoder.parameters_in_order()) {
    const Tensor& grad = parameter.tensor.grad();
    found.of_parameters.push_back(grad.defined() ? grad.clone() : Tensor());
  }
  return found;
}

std::vector<Gradients> ComputeOnRanks(int64_t ranks,
                                      const spec::Settings& settings,
                                      bool overlap) {
  std::vector<Gradients> found(static_cast<size_t>(ranks));
  const auto errors = OnRanks(ranks, [&](Communicator& communicator) {
    found[static_cast<size_t>(communicator.rank())] =
        Compute(settings, communicator, overlap);
  });
  EXPECT_THAT(errors, Each(""));
  return found;
}

Gradients ComputeAlone(const spec::Settings& settings) {
  const auto alone = collective::MakeSoloCommunicator();
  return Compute(settings, *alone, true);
}

void ExpectSameBits(const Gradients& left, const Gradients& right) {
  EXPECT_TRUE(left.loss_R.equal(right.loss_R));
  ASSERT_EQ(left.of_parameters.size(), right.of_parameters.size());
  for (size_t i = 0; i < left.of_parameters.size(); ++i) {
    ASSERT_EQ(left.of_parameters[i].defined(),
              right.of_parameters[i].defined());
    if (!left.of_parameters[i].defined()) continue;
    EXPECT_TRUE(left.of_parameters[i].equal(right.of_parameters[i])) << i;
  }
}

void ExpectClose(const Gradients& left, const Gradients& right) {
  EXPECT_TRUE(left.loss_R.allclose(right.loss_R, 1e-13, 0));
  ASSERT_EQ(left.of_parameters.size(), right.of_parameters.size());
  for (size_t i = 0; i < left.of_parameters.size(); ++i) {
    ASSERT_EQ(left.of_parameters[i].defined(),
              right.of_parameters[i].defined());
    if (!left.of_parameters[i].defined()) continue;
    EXPECT_TRUE(
        left.of_parameters[i].allclose(right.of_parameters[i], 1e-10, 1e-14))
        << i;
  }
}

using Case = std::pair<std::string, spec::GivenSettings>;

class GradientsOfRanks : public ::testing::TestWithParam<Case> {};

TEST_P(GradientsOfRanks, AreThoseOfOneAndTheSameBitsOnEach) {
  spec::GivenSettings given = GetParam().second;
  given["batch_sequences"] = int64_t{8};
  const Gradients alone = ComputeAlone(CellSettings(GetParam().first, given));
  for (const int64_t ranks : {2, 4}) {
    given["devices"] = ranks;
    const spec::Settings settings = CellSettings(GetParam().first, given);
    const auto apart = ComputeOnRanks(ranks, settings, true);
    ExpectClose(apart[0], alone);
    for (const Gradients& other : apart) ExpectSameBits(other, apart[0]);
    ExpectSameBits(ComputeOnRanks(ranks, settings, false)[0], apart[0]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ranks, GradientsOfRanks,
    ::testing::Values(Case{"prenorm", {}}, Case{"block_attnres", {}},
                      Case{"wav", {}},
                      Case{"prenorm", {{"micro_batch", int64_t{1}}}},
                      Case{"delta_block", {{"micro_batch", int64_t{2}}}},
                      Case{"prenorm", {{"dropout", 0.2}}},
                      Case{"attnres", {{"freeze_base", std::string("on")}}}),
    [](const auto& info) {
      std::string name = info.param.first;
      for (const auto& [key, value] : info.param.second) name += "_" + key;
      return name;
    });

// A bucket that holds one late gradient keeps all after it waiting.
TEST(GradientBuckets, OfEveryMethodAreOnTheirWayBeforeTheBackwardPassHasEnded) {
  for (const char* method : {"prenorm", "block_attnres", "wav", "mhc"}) {
    const spec::Settings settings = CellSettings(
        method, {{"devices", int64_t{2}}, {"batch_sequences", int64_t{2}}});
    std::vector<size_t> missing(2);  // by rank
    const auto errors = OnRanks(2, [&](Communicator& communicator) {
      const model::Decoder decoder(settings, kVocabulary, kSeeds,
                                   torch::kFloat64);
      const auto backward = [&] {
        decoder.Forward(torch::ones({2, 1, 5}, torch::kInt64))
            .pow(2)
            .sum()
            .backward();
      };
      const auto ordered = InOrderOfGradients(decoder.parameters_in_order(),
                                              communicator, backward);
      GradientBuckets buckets(ordered, communicator, true, 1);
      buckets.Arm();
      backward();
      missing[static_cast<size_t>(communicator.rank())] =
          ordered.size() - static_cast<size_t>(buckets.on_their_way());
      buckets.Finish();
    });
    EXPECT_THAT(errors, Each(""));
    // Those that get none at all.
    EXPECT_LE(missing[0], 1U) << method;
    EXPECT_EQ(missing[1], missing[0]) << method;
  }
}

TEST(InOrderOfGradients, IsThatOfRankZeroAndLeavesNoGradients) {
  const spec::Settings settings = CellSettings("block_attnres");
  std::vector<std::vector<std::string>> names(2);
  const auto errors = OnRanks(2, [&](Communicator& communicator) {
    const model::Decoder decoder(settings, kVocabulary, kSeeds,
                                 torch::kFloat64);
    auto parameters = decoder.parameters_in_order();
    // A rank that would have it otherwise.
    const bool is_other = communicator.rank() == 1;
    const auto ordered = InOrderOfGradients(parameters, communicator, [&] {
      if (is_other) {
        for (auto parameter : parameters) parameter.tensor.sum().backward();
        return;
      }
      decoder.Forward(torch::ones({2, 1, 5}, torch::kInt64)).sum().backward();
    });
    for (const auto& parameter : ordered) {
      EXPECT_FALSE(parameter.tensor.grad().defined());
      names[static_cast<size_t>(communicator.rank())].push_back(parameter.name);
    }
    EXPECT_EQ(ordered.size(), parameters.size());
  });
  EXPECT_THAT(errors, Each(""));
  EXPECT_EQ(names[0], names[1]);
  EXPECT_EQ(names[0].back(), "embed");
}

TEST(GradientBuckets, OfAnySizeGiveTheSameBits) {
  const spec::Settings settings = CellSettings("prenorm");
  std::vector<std::vector<Tensor>> found;
  std::vector<int64_t> counts;
  for (const int64_t bytes : {1, 4096, 1 << 24}) {
    std::vector<Tensor> gradients;
    int64_t buckets = 0;
    const auto errors = OnRanks(2, [&](Communicator& communicator) {
      const model::Decoder decoder(settings, kVocabulary, kSeeds,
                                   torch::kFloat64);
      GradientBuckets of_rank(decoder.parameters_in_order(), communicator, true,
                              bytes);
      of_rank.Arm();
      const Tensor tokens = torch::full({2, 1, 5}, 1 + communicator.rank());
      decoder.Forward(tokens).pow(2).sum().backward();
      of_rank.Finish();
      if (communicator.rank() > 0) return;
      buckets = of_rank.buckets();
      for (const auto& parameter : decoder.parameters_in_order()) {
        gradients.push_back(parameter.tensor.grad().clone());
      }
    });
    EXPECT_THAT(errors, Each(""));
    counts.push_back(buckets);
    found.push_back(std::move(gradients));
  }
  EXPECT_EQ(counts[0], static_cast<int64_t>(found[0].size()));
  EXPECT_GT(counts[0], counts[1]);
  EXPECT_GT(counts[1], counts[2]);
  EXPECT_EQ(counts[2], 1);
  for (size_t i = 0; i < found[0].size(); ++i) {
    EXPECT_TRUE(found[1][i].equal(found[0][i]));
    EXPECT_TRUE(found[2][i].equal(found[0][i]));
  }
}

}  // namespace
}  // namespace leadline::trainer
