#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/router/call.h"
#include "model/router/reference.h"
#include "model/router/route.h"

namespace leadline::model {
namespace {

using torch::Tensor;

constexpr double kEps = 1e-3;

Tensor Random(torch::IntArrayRef sizes, torch::ScalarType type) {
  return torch::randn(sizes, torch::kFloat64).to(type);
}

/// Leaves of a small tower: three updates, two of which are summed, and two
/// routers that read them.
struct Tower {
  std::vector<Tensor> updates_RBTD;
  Tensor keys_RQD;
  Tensor bias_RC;

  explicit Tower(torch::ScalarType type) {
    torch::manual_seed(5);
    for (int i = 0; i < 3; ++i) {
      updates_RBTD.push_back(Random({2, 3, 4, 5}, type).requires_grad_(true));
    }
    keys_RQD = Random({2, 2, 5}, type).requires_grad_(true);
    bias_RC = Random({2, 1}, type).requires_grad_(true);
  }

  std::vector<Tensor> Leaves() const {
    std::vector<Tensor> leaves = updates_RBTD;
    leaves.push_back(keys_RQD);
    leaves.push_back(bias_RC);
    return leaves;
  }
};

using Router =
    std::function<Tensor(const std::vector<Candidate>&, const RouterKey&)>;

/// Sources are shared between both routers, one is a difference of updates, and
/// one is also used beside the routers.
Tensor Climb(const Tower& tower, const Router& route) {
  const auto& u = tower.updates_RBTD;
  const Source e = MakeSource(u[0], kEps, "e");
  std::vector<Source> sums =
      AddUpdate({}, u[1], {{1, "P"}, {-1, "Psig"}}, kEps);
  const Tensor scale_RBT =
      torch::full({2, 3, 4}, 1.5, u[0].options().requires_grad(false));
  const Tensor x = route({{e}, {sums[0]}, {sums[1], 0, scale_RBT}},
                         {tower.keys_RQD.select(1, 0), tower.bias_RC});
  sums = AddUpdate(sums, u[2] * x.tanh(), {{1, "P"}, {1, "Psig"}}, kEps);
  const Tensor y = route({{e}, {sums[0]}, {sums[1], 0}},
                         {tower.keys_RQD.select(1, 1), tower.bias_RC});
  return (y * y * sums[0].value_RBTD).sum();
}

Tensor Plain(const std::vector<Candidate>& candidates, const RouterKey& key) {
  return RouteReference(candidates, key, kEps);
}

Tensor Fused(const std::vector<Candidate>& candidates, const RouterKey& key) {
  return Route(candidates, key);
}

TEST(Router, GradientsOfATowerEqualThoseOfThePlainForm) {
  const Tower tower(torch::kFloat64);
  const Tensor plain = Climb(tower, &Plain);
  const Tensor fused = Climb(tower, &Fused);
  EXPECT_NEAR(plain.item<double>(), fused.item<double>(), 1e-12);
  const auto want = torch::autograd::grad({plain}, tower.Leaves());
  const auto got = torch::autograd::grad({fused}, tower.Leaves());
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_LT((want[i] - got[i]).norm().item<double>(),
              1e-12 * want[i].norm().item<double>())
        << i;
  }
}

TEST(Router, PartialGradientsLeaveNothingBehind) {
  const Tower tower(torch::kFloat64);
  const Tensor fused = Climb(tower, &Fused);
  const auto grad = [&](const std::vector<Tensor>& leaves) {
    return torch::autograd::grad({fused}, leaves, {}, /*retain_graph=*/true);
  };
  const auto all = grad(tower.Leaves());
  const auto keys = grad({tower.keys_RQD});
  const auto update = grad({tower.updates_RBTD[2]});
  const auto again = grad(tower.Leaves());
  EXPECT_TRUE(torch::equal(keys[0], all[3]));
  EXPECT_TRUE(torch::equal(update[0], all[2]));
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(torch::equal(all[i], again[i])) << i;
  }
}

TEST(Router, GradientsAgreeWithFiniteDifferences) {
  const Tower tower(torch::kFloat64);
  const auto got =
      torch::autograd::grad({Climb(tower, &Fused)}, tower.Leaves());
  const torch::NoGradGuard no_grad;
  constexpr double kStep = 1e-6;
  for (size_t i = 0; i < got.size(); ++i) {
    const Tensor direction = torch::randn_like(got[i]);
    const Tensor leaf = tower.Leaves()[i];
    leaf.add_(direction, kStep);
    const double above = Climb(tower, &Fused).item<double>();
    leaf.add_(direction, -2 * kStep);
    const double below = Climb(tower, &Fused).item<double>();
    leaf.add_(direction, kStep);
    const double slope = (got[i] * direction).sum().item<double>();
    EXPECT_NEAR((above - below) / (2 * kStep), slope,
                1e-6 * std::max(1.0, std::abs(slope)))
        << i;
  }
}

TEST(Router, FusedLoopsEqualTensorOperations) {
  torch::manual_seed(7);
  RouteCall call;
  RouteGradients fused;
  for (int64_t j = 0; j < 5; ++j) {
    call.values_RBTD.push_back(Random({2, 3, 4, 7}, torch::kFloat64));
    call.inverse_rms_RBT.push_back(
        j == 3 ? Tensor()
               : (call.values_RBTD[j].square().mean(-1) + kEps).rsqrt());
    call.scales_RBT.push_back(
        j % 2 == 0 ? Tensor() : torch::rand({2, 3, 4}, torch::kFloat64));
    call.bias_columns.push_back(j % 3 == 0 ? -1 : j % 3 - 1);
    fused.sources.push_back(
        {.before_RBTD =
             j == 1 ? Random({2, 3, 4, 7}, torch::kFloat64) : Tensor(),
         .wanted = j != 4});
  }
  fused.key_wanted = true;
  fused.logits_wanted = true;
  call.key_RD = Random({2, 7}, torch::kFloat64);
  call.bias_RC = Random({2, 2}, torch::kFloat64);
  RouteGradients portable = fused;
  const Tensor dout_RBTD = Random({2, 3, 4, 7}, torch::kFloat64);

  const RouteOutput a = RouteOnCpu(call);
  const RouteOutput b = RouteAnywhere(call);
  EXPECT_TRUE(torch::allclose(a.out_RBTD, b.out_RBTD, 1e-12, 1e-13));
  EXPECT_TRUE(torch::allclose(a.weights_JRBT, b.weights_JRBT, 1e-12, 1e-13));
  RouteBackwardOnCpu(call, a.weights_JRBT, dout_RBTD, fused);
  RouteBackwardAnywhere(call, a.weights_JRBT, dout_RBTD, portable);
  EXPECT_TRUE(torch::allclose(fused.key_RD, portable.key_RD, 1e-12, 1e-13));
  EXPECT_TRUE(
      torch::allclose(fused.logits_RJ, portable.logits_RJ, 1e-12, 1e-13));
  for (size_t j = 0; j < 4; ++j) {
    EXPECT_TRUE(torch::allclose(fused.sources[j].after_RBTD,
                                portable.sources[j].after_RBTD, 1e-12, 1e-13))
        << j;
  }
  EXPECT_FALSE(fused.sources[4].after_RBTD.defined());
}

TEST(Router, UniformWeightsGiveTheMean) {
  const Tensor v = torch::arange(1, 13, torch::kFloat64).view({3, 1, 1, 1, 4});
  std::vector<Candidate> candidates;
  for (int64_t j = 0; j < 3; ++j) {
    candidates.push_back({MakeSource(v[j], kEps, "v")});
  }
  const Tensor out =
      Route(candidates, {torch::zeros({1, 4}, torch::kFloat64), {}});
  EXPECT_TRUE(torch::allclose(
      out.flatten(), torch::tensor({5.0, 6.0, 7.0, 8.0}, torch::kFloat64)));
}

TEST(Router, OneSourceIsReturnedAsItIs) {
  const Tensor v = Random({1, 2, 3, 4}, torch::kFloat32).requires_grad_(true);
  const Tensor key = torch::ones({1, 4}).requires_grad_(true);
  Tensor weights;
  const Tensor out = Route({{MakeSource(v, kEps, "e")}}, {key, {}}, &weights);
  EXPECT_TRUE(torch::equal(out, v));
  EXPECT_TRUE(torch::equal(weights, torch::ones({1, 1, 2, 3})));
  out.sum().backward();
  EXPECT_FALSE(key.grad().defined());
  EXPECT_TRUE(torch::equal(v.grad(), torch::ones_like(v)));
}

TEST(Router, EqualSumsShareOneTensor) {
  const Tensor u = Random({1, 2, 3, 4}, torch::kFloat32);
  auto sums = AddUpdate({}, u, {{1, "P"}, {1, "Pphi"}, {1, "Psig"}}, kEps);
  EXPECT_EQ(sums[0].value_RBTD.data_ptr(), sums[2].value_RBTD.data_ptr());
  sums = AddUpdate(sums, u, {{1, "P"}, {-1, "Pphi"}, {1, "Psig"}}, kEps);
  EXPECT_EQ(sums[0].value_RBTD.data_ptr(), sums[2].value_RBTD.data_ptr());
  EXPECT_TRUE(torch::equal(sums[1].value_RBTD, torch::zeros_like(u)));
  EXPECT_TRUE(torch::equal(sums[0].value_RBTD, u + u));
}

}  // namespace
}  // namespace leadline::model
