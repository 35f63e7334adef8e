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

enum class Null { kNone, kLogit, kVector };

/// A call of five sources, of which no two are alike.
RouteCall MakeCall(int64_t heads, Null null) {
  constexpr int64_t kWidth = 12;
  RouteCall call;
  call.heads = heads;
  call.has_null = null != Null::kNone;
  for (int64_t j = 0; j < 5; ++j) {
    call.values_RBTD.push_back(Random({2, 3, 4, kWidth}, torch::kFloat64));
    call.inverse_rms_RBT.push_back(
        j == 3 ? Tensor()
               : (call.values_RBTD[j].square().mean(-1) + kEps).rsqrt());
    call.scales_RBT.push_back(
        j % 2 == 0 ? Tensor() : torch::rand({2, 3, 4}, torch::kFloat64));
    call.bias_columns.push_back(j % 3 == 0 ? -1 : j % 3 - 1);
  }
  call.key_RD = Random({2, kWidth}, torch::kFloat64);
  call.bias_RC = Random({2, 2}, torch::kFloat64);
  if (null == Null::kLogit) {
    call.null_logit_R = Random({2, 3}, torch::kFloat64).select(1, 1);
  } else if (null == Null::kVector) {
    call.null_RD = Random({2, 3, kWidth}, torch::kFloat64).select(1, 2);
    call.null_inverse_rms_R = torch::rand({2}, torch::kFloat64);
  }
  return call;
}

/// The fourth source wants no gradient, and something is there of the second.
RouteGradients AskForGradients(const RouteCall& call, Null null) {
  RouteGradients gradients;
  for (size_t j = 0; j < call.values_RBTD.size(); ++j) {
    gradients.sources.push_back(
        {.before_RBTD =
             j == 1 ? torch::ones_like(call.values_RBTD[j]) : Tensor(),
         .wanted = j != 4});
  }
  gradients.key_wanted = call.key_RD.defined();
  gradients.logits_wanted = true;
  gradients.null_wanted = null == Null::kVector;
  return gradients;
}

void ExpectClose(const Tensor& a, const Tensor& b, const char* what) {
  ASSERT_EQ(a.defined(), b.defined()) << what;
  if (!a.defined()) return;
  ASSERT_EQ(a.sizes(), b.sizes()) << what;
  EXPECT_TRUE(torch::allclose(a, b, 1e-12, 1e-13)) << what;
}

void ExpectFusedEqualsPortable(const RouteCall& call, Null null) {
  RouteGradients fused = AskForGradients(call, null);
  RouteGradients portable = AskForGradients(call, null);
  const Tensor dout_RBTD = Random(call.values_RBTD[0].sizes(), torch::kFloat64);
  const RouteOutput a = RouteOnCpu(call);
  const RouteOutput b = RouteAnywhere(call);
  ExpectClose(a.out_RBTD, b.out_RBTD, "out");
  ExpectClose(a.weights_NRBTG, b.weights_NRBTG, "weights");
  RouteBackwardOnCpu(call, a.weights_NRBTG, dout_RBTD, fused);
  RouteBackwardAnywhere(call, a.weights_NRBTG, dout_RBTD, portable);
  ExpectClose(fused.key_RD, portable.key_RD, "key");
  ExpectClose(fused.logits_RN, portable.logits_RN, "logits");
  ExpectClose(fused.null_RD, portable.null_RD, "null");
  for (size_t j = 0; j < 4; ++j) {
    ExpectClose(fused.sources[j].after_RBTD, portable.sources[j].after_RBTD,
                "value");
  }
  EXPECT_FALSE(fused.sources[4].after_RBTD.defined());
}

TEST(Router, FusedLoopsEqualTensorOperations) {
  torch::manual_seed(7);
  for (const int64_t heads : {1, 2, 3, 12}) {
    for (const Null null : {Null::kNone, Null::kLogit, Null::kVector}) {
      RouteCall call = MakeCall(heads, null);
      ExpectFusedEqualsPortable(call, null);
      call.key_RD = Tensor();  // logits are the biases
      ExpectFusedEqualsPortable(call, null);
    }
  }
}

/// One router of many heads with a null source, against the plain form.
struct HeadedRouter {
  std::vector<Tensor> leaves;  // of candidates, then key, bias, null, its logit
  int64_t heads;
  bool vector;

  HeadedRouter(int64_t heads, bool vector) : heads(heads), vector(vector) {
    torch::manual_seed(11);
    const auto leaf = [&](torch::IntArrayRef sizes) {
      leaves.push_back(Random(sizes, torch::kFloat64).requires_grad_(true));
    };
    for (int j = 0; j < 3; ++j) leaf({2, 3, 4, 6});
    leaf({2, 6});
    leaf({2, 3});
    if (vector) leaf({2, 6});
    leaf({2});
  }

  RouterKey Key() const {
    return {.key_RD = leaves[3],
            .bias_RC = leaves[4],
            .heads = heads,
            .null = {vector ? leaves[5] : Tensor(), leaves.back(), 1e-2}};
  }
  std::vector<Candidate> Candidates() const {
    std::vector<Candidate> candidates;
    for (int64_t j = 0; j < 3; ++j) {
      candidates.push_back({MakeSource(leaves[j], kEps, "v"), j});
    }
    return candidates;
  }
};

TEST(Router, HeadsAndNullSourcesEqualThePlainForm) {
  for (const int64_t heads : {1, 2, 6}) {
    for (const bool vector : {false, true}) {
      const HeadedRouter router(heads, vector);
      Tensor weights;
      Tensor plain_weights;
      const Tensor out = Route(router.Candidates(), router.Key(), &weights);
      const Tensor plain = RouteReference(router.Candidates(), router.Key(),
                                          kEps, &plain_weights);
      ExpectClose(out, plain, "out");
      ExpectClose(weights, plain_weights, "weights");
      const Tensor c = torch::randn_like(out);
      const auto got = torch::autograd::grad({(out * c).sum()}, router.leaves);
      const auto want =
          torch::autograd::grad({(plain * c).sum()}, router.leaves);
      for (size_t i = 0; i < want.size(); ++i) {
        EXPECT_LT((want[i] - got[i]).norm().item<double>(),
                  1e-12 * want[i].norm().item<double>())
            << heads << " " << vector << " " << i;
      }
    }
  }
}

TEST(Router, AHeadSeesItsSliceOfTheKeyAlone) {
  const HeadedRouter router(2, false);
  Tensor before;
  Tensor after;
  Route(router.Candidates(), router.Key(), &before);
  const torch::NoGradGuard no_grad;
  router.leaves[3].slice(1, 3, 6).mul_(-2);
  Route(router.Candidates(), router.Key(), &after);
  ASSERT_EQ(before.sizes(), (torch::IntArrayRef{4, 2, 3, 4, 2}));
  EXPECT_TRUE(torch::equal(before.select(-1, 0), after.select(-1, 0)));
  EXPECT_FALSE(torch::equal(before.select(-1, 1), after.select(-1, 1)));
}

TEST(Router, AZeroNullVectorIsANullLogitOfZero) {
  HeadedRouter with_vector(1, true);
  RouterKey key = with_vector.Key();
  key.null = {torch::zeros({2, 6}, torch::kFloat64), {}, kEps};
  Tensor of_vector;
  const Tensor a = Route(with_vector.Candidates(), key, &of_vector);
  key.null = {{}, torch::zeros({2}, torch::kFloat64), 0};
  Tensor of_logit;
  const Tensor b = Route(with_vector.Candidates(), key, &of_logit);
  EXPECT_TRUE(torch::equal(of_vector, of_logit));
  EXPECT_TRUE(torch::equal(a, b));
}

TEST(Router, HeadsThatDoNotDivideTheWidthAreRefused) {
  const HeadedRouter router(4, false);
  EXPECT_THROW(Route(router.Candidates(), router.Key()), c10::Error);
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
