#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/layers/attention.h"
#include "model/layers/dropout.h"
#include "model/layers/embedding.h"
#include "model/layers/norm.h"
#include "model/layers/rotary.h"
#include "model/layers/swiglu.h"
#include "model/losses.h"
#include "model/parameters.h"

namespace leadline::model {
namespace {

using torch::Tensor;

Tensor Leaf(torch::IntArrayRef sizes) {
  return torch::randn(sizes, torch::kFloat64).requires_grad_(true);
}

void ExpectSameGradients(const Tensor& got, const Tensor& want,
                         const std::vector<Tensor>& leaves) {
  ASSERT_TRUE(torch::allclose(got, want, 1e-12, 1e-13));
  const Tensor weights = torch::randn_like(want);
  const auto dgot =
      torch::autograd::grad({(got * weights).sum()}, leaves, {}, true);
  const auto dwant =
      torch::autograd::grad({(want * weights).sum()}, leaves, {}, true);
  for (size_t i = 0; i < leaves.size(); ++i) {
    EXPECT_TRUE(torch::allclose(dgot[i], dwant[i], 1e-11, 1e-12)) << i;
  }
}

TEST(RmsNorm, HandValue) {
  const Tensor x = torch::tensor({1.0, 2.0, 3.0, 4.0}, torch::kFloat64);
  const Tensor y =
      RmsNorm(x.view({1, 1, 1, 4}), torch::ones({1, 4}, torch::kFloat64), 0);
  EXPECT_TRUE(torch::allclose(y.flatten(), x / std::sqrt(7.5)));
}

TEST(RmsNorm, EqualsItsFormulaWithGradients) {
  torch::manual_seed(1);
  const Tensor x = Leaf({2, 3, 4, 5});
  const Tensor g = Leaf({2, 5});
  const Tensor bare = x * (x.square().mean(-1, true) + 1e-2).rsqrt();
  ExpectSameGradients(RmsNorm(x, g, 1e-2), g.unsqueeze(1).unsqueeze(1) * bare,
                      {x, g});
  ExpectSameGradients(RmsNorm(x, {}, 1e-2), bare, {x});
}

/// The forms for other types and devices, on values of bfloat16: three digits.
void ExpectNearlySame(const Tensor& got, const Tensor& want, const Tensor& x,
                      const Tensor& wide) {
  const auto error = [](const Tensor& a, const Tensor& b) {
    return ((a.to(torch::kFloat64) - b).norm() / b.norm()).item<double>();
  };
  EXPECT_LT(error(got, want), 1e-2);
  const Tensor weights = torch::randn_like(want);
  const Tensor dx =
      torch::autograd::grad({(got * weights.to(got)).sum()}, {x}, {}, true)[0];
  const Tensor dwant =
      torch::autograd::grad({(want * weights).sum()}, {wide}, {}, true)[0];
  EXPECT_LT(error(dx, dwant), 2e-2);
}

TEST(RmsNorm, TensorOperationsEqualTheFormula) {
  torch::manual_seed(6);
  const Tensor x =
      torch::randn({2, 3, 4, 5}).to(torch::kBFloat16).requires_grad_();
  const Tensor wide = x.detach().to(torch::kFloat64).requires_grad_();
  const Tensor bare = wide * (wide.square().mean(-1, true) + 0.5).rsqrt();
  ExpectNearlySame(RmsNorm(x, {}, 0.5), bare, x, wide);
  const Tensor g = torch::rand({2, 5}).add(0.5).to(torch::kBFloat16);
  ExpectNearlySame(RmsNorm(x, g, 0.5),
                   g.to(torch::kFloat64).unsqueeze(1).unsqueeze(1) * bare, x,
                   wide);
}

TEST(Rotate, TensorOperationsTurnAsTheLoopsDo) {
  torch::manual_seed(7);
  const Tensor x =
      torch::randn({2, 6, 3, 4}).to(torch::kBFloat16).requires_grad_();
  const Tensor wide = x.detach().to(torch::kFloat64).requires_grad_();
  ExpectNearlySame(Rotate(x, MakeRotaryTable(6, 4, 100, torch::kBFloat16)),
                   Rotate(wide, MakeRotaryTable(6, 4, 100, torch::kFloat64)), x,
                   wide);
}

TEST(Embed, GradientCountsTokensWhateverTheVocabulary) {
  torch::manual_seed(2);
  for (const int64_t vocabulary : {7, 1500}) {
    const Tensor table = Leaf({2, vocabulary, 3});
    const Tensor tokens = torch::randint(vocabulary, {2, 4, 5}, torch::kInt64);
    std::vector<Tensor> rows;
    for (int64_t r = 0; r < 2; ++r) {
      rows.push_back(
          table[r].index_select(0, tokens[r].flatten()).view({4, 5, 3}));
    }
    ExpectSameGradients(Embed(table, tokens), torch::stack(rows), {table});
  }
}

TEST(Rotate, TurnsPairsByPositionAndBack) {
  torch::manual_seed(3);
  const RotaryTable table = MakeRotaryTable(6, 4, 100, torch::kFloat64);
  const Tensor x = Leaf({2, 6, 3, 4});
  std::vector<Tensor> turned;
  for (int64_t i = 0; i < 2; ++i) {
    const Tensor angle =
        (torch::arange(6, torch::kFloat64) * std::pow(100.0, -2.0 * i / 4))
            .view({6, 1});
    const Tensor a = x.select(-1, i);
    const Tensor b = x.select(-1, i + 2);
    turned.push_back(a * angle.cos() - b * angle.sin());
    turned.push_back(b * angle.cos() + a * angle.sin());
  }
  const Tensor want =
      torch::stack({turned[0], turned[2], turned[1], turned[3]}, -1);
  ExpectSameGradients(Rotate(x, table), want, {x});
}

TEST(SwiGlu, EqualsItsFormulaWithGradients) {
  torch::manual_seed(4);
  ParameterList parameters({1, 2}, torch::kFloat64);
  const SwiGlu mlp("mlp", {.width = 4, .hidden = 6, .compute = torch::kFloat64},
                   {1, 1, 1}, parameters);
  const Tensor y = Leaf({2, 5, 4});
  const auto& p = parameters.trained();
  const Tensor gate = torch::bmm(y, p[0].tensor);
  const Tensor want = torch::bmm(
      gate * gate.sigmoid() * torch::bmm(y, p[1].tensor), p[2].tensor);
  ExpectSameGradients(mlp.Forward(y), want,
                      {y, p[0].tensor, p[1].tensor, p[2].tensor});
}

TEST(Attention, OpenFormWithNothingDroppedEqualsTheFusedOne) {
  torch::manual_seed(5);
  ParameterList parameters({1, 2}, torch::kFloat64);
  const Attention attention("attn",
                            {.width = 8,
                             .heads = 4,
                             .kv_heads = 2,
                             .qk_norm = true,
                             .norm_eps = 1e-5,
                             .compute = torch::kFloat64},
                            {0.5, 0.5, 0.5}, parameters);
  const RotaryTable table = MakeRotaryTable(6, 2, 10000, torch::kFloat64);
  const Tensor y = Leaf({2, 3, 6, 8});
  // So small a probability that no 32-bit word falls below it.
  const std::vector<int64_t> seeds = {1, 2};
  const Dropout none{.seeds = &seeds, .probability = 1e-15};
  ExpectSameGradients(attention.Forward(y, table, {}),
                      attention.Forward(y, table, none),
                      {y, parameters.trained()[0].tensor});
}

TEST(Dropout, MasksBelongToSeedSiteStepAndPlace) {
  const std::vector<int64_t> seeds = {11, 12};
  const Tensor x = torch::ones({2, 6, 50}, torch::kFloat64);
  const Dropout dropout{&seeds, 0.25, 3, 0};
  const Tensor all = dropout.Apply("embed", x);
  EXPECT_TRUE(torch::equal(all, dropout.Apply("embed", x)));
  EXPECT_FALSE(torch::equal(all[0], all[1]));
  EXPECT_FALSE(torch::equal(all, dropout.Apply("layers.0.attn.out", x)));
  const Dropout later{&seeds, 0.25, 4, 0};
  EXPECT_FALSE(torch::equal(all, later.Apply("embed", x)));

  // The second half of the batch alone, as another rank would hold it, and the
  // second replica alone.
  const Dropout half{&seeds, 0.25, 3, 3};
  EXPECT_TRUE(torch::equal(all.narrow(1, 3, 3),
                           half.Apply("embed", x.narrow(1, 3, 3))));
  const std::vector<int64_t> second = {12};
  const Dropout solo{&second, 0.25, 3, 0};
  EXPECT_TRUE(torch::equal(all.narrow(0, 1, 1),
                           solo.Apply("embed", x.narrow(0, 1, 1))));
  const double kept = all.gt(0).to(torch::kFloat64).mean().item<double>();
  EXPECT_NEAR(kept, 0.75, 0.06);
  EXPECT_DOUBLE_EQ(all.max().item<double>(), 1 / 0.75);
}

TEST(TokenLosses, AreNegativeLogProbabilities) {
  const Tensor logits = torch::randn({2, 3, 4, 5}, torch::kFloat64);
  const Tensor targets = torch::randint(5, {2, 3, 4}, torch::kInt64);
  const Tensor want =
      -logits.log_softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1);
  EXPECT_TRUE(torch::allclose(TokenLosses(logits, targets), want));
  EXPECT_EQ(TokenLosses(logits.to(torch::kBFloat16), targets).scalar_type(),
            torch::kFloat32);
  EXPECT_THROW(TokenLosses(logits, targets.narrow(2, 0, 3)), c10::Error);
}

}  // namespace
}  // namespace leadline::model
