// Parallel streams, their coefficients, sums of sources, and values that layers
// share: each against its definition, with gradients.

#include "model/streams/streams.h"

#include <cmath>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/layers/value_residual.h"
#include "model/router/weighted_sum.h"
#include "model/streams/normed_projection.h"
#include "model/streams/permutations.h"
#include "model/streams/sinkhorn.h"
#include "tests/support/cell_settings.h"

namespace leadline::model {
namespace {

using torch::Tensor;

Tensor Leaf(torch::IntArrayRef sizes) {
  return torch::randn(sizes, torch::kFloat64).requires_grad_(true);
}

/// Both and their gradients for the same weights of the outputs.
void ExpectSame(const Tensor& got, const Tensor& want,
                const std::vector<Tensor>& leaves) {
  EXPECT_TRUE(torch::allclose(got, want, 1e-12, 1e-14));
  const Tensor weights = torch::randn(want.sizes(), want.options());
  const auto dgot = torch::autograd::grad({(got * weights).sum()}, leaves);
  const auto dwant = torch::autograd::grad({(want * weights).sum()}, leaves);
  for (size_t i = 0; i < leaves.size(); ++i) {
    EXPECT_TRUE(torch::allclose(dgot[i], dwant[i], 1e-11, 1e-12)) << i;
  }
}

/// The rounds as they are defined, in logarithms.
Tensor SinkhornByDefinition(const Tensor& logits) {
  Tensor x = logits;
  for (int64_t i = 0; i < 20; ++i) {
    x = x - x.logsumexp(-1, true);
    x = x - x.logsumexp(-2, true);
  }
  return x.exp();
}

class Streams : public ::testing::TestWithParam<int64_t> {};

TEST_P(Streams, AreReadAndMixedByTheFormula) {
  torch::manual_seed(1);
  const int64_t m = GetParam();
  const Tensor h = Leaf({3, 2, 5, m, 7});
  const Tensor u = Leaf({3, 2, 5, 7});
  const Tensor c = Leaf({3, 2, 5, m, m + 2});
  const Tensor read = (c.select(-1, 0).unsqueeze(-1) * h).sum(3);
  ExpectSame(ReadStreams(h, c), read, {h, c});
  const Tensor mixed =
      torch::einsum("rbtsi,rbtsd->rbtid", {c.narrow(-1, 1, m), h}) +
      c.select(-1, m + 1).unsqueeze(-1) * u.unsqueeze(-2);
  ExpectSame(MixStreams(h, u, c), mixed, {h, u, c});
}

TEST_P(Streams, SinkhornEqualsItsDefinition) {
  torch::manual_seed(2);
  const int64_t m = GetParam();
  // 37 tokens: whole groups of tokens that are computed side by side and a
  // rest.
  const Tensor logits = Leaf({2, 1, 37, m, m});
  ExpectSame(Sinkhorn(logits), SinkhornByDefinition(logits), {logits});
}

TEST_P(Streams, SinkhornHoldsForLogitsFarApart) {
  torch::manual_seed(3);
  const int64_t m = GetParam();
  const Tensor wide =
      (500 * torch::randn({1, 2, 20, m, m}, torch::kFloat64)).requires_grad_();
  ExpectSame(Sinkhorn(wide), SinkhornByDefinition(wide), {wide});
  const Tensor narrow = (wide.detach() / 10).to(torch::kFloat32);
  const Tensor want = SinkhornByDefinition(narrow.to(torch::kFloat64));
  EXPECT_LE((Sinkhorn(narrow).to(torch::kFloat64) - want).norm().item<double>(),
            1e-4 * want.norm().item<double>());
}

TEST_P(Streams, SinkhornsLastStepIsThatOfColumns) {
  torch::manual_seed(4);
  const int64_t m = GetParam();
  Tensor logits = 2 * torch::randn({1, 1, 8, m, m}, torch::kFloat64);
  const Tensor a = Sinkhorn(logits);
  EXPECT_LE((a.sum(-2) - 1).abs().max().item<double>(), 1e-14);
  if (m > 2) {
    EXPECT_GT((a.sum(-1) - 1).abs().max().item<double>(), 1e-12)
        << "20 rounds do not converge";
  }
  const Tensor equal_h =
      torch::randn({1, 1, 8, 1, 6}, torch::kFloat64).expand({1, 1, 8, m, 6});
  const Tensor ones = torch::ones({1, 1, 8, m, 1}, torch::kFloat64);
  const Tensor mixed =
      MixStreams(equal_h, torch::zeros({1, 1, 8, 6}, torch::kFloat64),
                 torch::cat({ones, a, ones}, -1));
  EXPECT_LE((mixed - equal_h).abs().max().item<double>(), 1e-14);
}

INSTANTIATE_TEST_SUITE_P(Counts, Streams, ::testing::Values(2, 3, 4, 8));

TEST(NormedProjection, EqualsItsFormulaWithGradients) {
  torch::manual_seed(5);
  const Tensor x = Leaf({2, 9, 6});
  const Tensor w = Leaf({2, 6, 4});
  const Tensor normed = x * (x.square().mean(-1, true) + 1e-2).rsqrt();
  ExpectSame(NormedProjection(x, w, 1e-2), torch::bmm(normed, w), {x, w});
}

TEST(PermutationMatrices, ComeInLexicographicOrder) {
  const std::vector<std::vector<int64_t>> orders = {
      {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const Tensor matrices = PermutationMatrices(3);
  ASSERT_EQ(matrices.size(0), 6);
  EXPECT_EQ(matrices.sum().item<double>(), 18);
  for (int64_t k = 0; k < 6; ++k) {
    for (int64_t s = 0; s < 3; ++s) {
      EXPECT_EQ(matrices[k][s][orders[k][s]].item<double>(), 1) << k << s;
    }
  }
  EXPECT_EQ(PermutationMatrices(4).size(0), 24);
}

TEST(WeightedSum, EqualsItsFormulaAlsoBesideOtherReaders) {
  torch::manual_seed(6);
  std::vector<Tensor> leaves = {Leaf({2, 3, 4, 5}), Leaf({2, 3, 4, 5}),
                                Leaf({2, 3, 4, 5}), Leaf({2, 2}), Leaf({2, 3})};
  std::vector<Source> sources;
  std::vector<Tensor> values;
  for (size_t j = 0; j < 3; ++j) {
    sources.push_back(MakeSource(leaves[j], 1, "X" + std::to_string(j)));
    values.push_back(leaves[j]);
  }
  const auto weigh = [&](size_t count, const Tensor& weights) {
    Tensor sum = torch::zeros_like(values[0]);
    for (size_t j = 0; j < count; ++j) {
      sum = sum +
            values[j] *
                weights.select(1, static_cast<int64_t>(j)).view({2, 1, 1, 1});
    }
    return sum;
  };
  const Tensor got = WeightedSum({sources[0], sources[1]}, leaves[3]).tanh() +
                     sources[1].value_RBTD.sin() +
                     WeightedSum(sources, leaves[4]);
  const Tensor want =
      weigh(2, leaves[3]).tanh() + values[1].sin() + weigh(3, leaves[4]);
  ExpectSame(got, want, leaves);
}

ValueResidual Values(const std::string& word, ParameterList& parameters) {
  return {testing::CellSettings("prenorm", {{"value_residual", word}}),
          parameters};
}

TEST(ValueResidual, LaterLayersMixInTheFirst) {
  torch::manual_seed(7);
  const Tensor first = torch::randn({2, 5, 3});
  const Tensor second = torch::randn({2, 5, 3});
  const Tensor third = torch::randn({2, 5, 3});
  for (const char* word : {"constant", "learned"}) {
    ParameterList parameters({1, 2}, torch::kFloat32);
    ValuePass pass = Values(word, parameters).Begin();
    EXPECT_TRUE(torch::equal(pass.Mix(first), first));
    EXPECT_TRUE(torch::equal(pass.Mix(second), (first + second) / 2)) << word;
    EXPECT_TRUE(torch::equal(pass.Mix(third), (first + third) / 2)) << word;
  }
}

TEST(ValueResidual, WeightsAreThoseOfTheLayer) {
  torch::manual_seed(8);
  ParameterList parameters({1, 2}, torch::kFloat32);
  const ValueResidual values = Values("learned", parameters);
  const Tensor c = torch::randn({2, 2, 2});
  parameters.Set("value_residual.c", c);
  const Tensor v = torch::randn({2, 5, 3});
  ValuePass pass = values.Begin();
  pass.Mix(v);
  const Tensor own = torch::randn({2, 5, 3});
  for (int64_t i = 0; i < 2; ++i) {
    const Tensor want = c.select(1, i).select(1, 0).view({2, 1, 1}) * v +
                        c.select(1, i).select(1, 1).view({2, 1, 1}) * own;
    EXPECT_TRUE(torch::allclose(pass.Mix(own), want));
  }
}

TEST(ValueResidual, OffChangesNothingAndDeclaresNothing) {
  ParameterList parameters({1}, torch::kFloat32);
  ValuePass pass = Values("off", parameters).Begin();
  const Tensor v = torch::randn({1, 5, 3});
  pass.Mix(torch::randn({1, 5, 3}));
  EXPECT_TRUE(torch::equal(pass.Mix(v), v));
  EXPECT_TRUE(parameters.trained().empty());
}

}  // namespace
}  // namespace leadline::model
