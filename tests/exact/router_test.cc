// X13, X14: the router op by itself.

#include <functional>

#include "model/router/reference.h"
#include "model/router/route.h"
#include "tests/exact/world.h"

namespace leadline::exact {
namespace {

using model::Candidate;
using torch::Tensor;

constexpr int64_t kWidth = 8;

/// Random sources and parameters of one router.
struct RouterWorld {
  std::vector<Tensor> sources_RBTD;
  Tensor key_RD;
  Tensor bias_RC;

  RouterWorld(int64_t replicas, int64_t sources, int64_t seed) {
    torch::Generator generator =
        torch::make_generator<torch::CPUGeneratorImpl>(seed);
    const auto draw = [&](torch::IntArrayRef sizes) {
      return torch::randn(sizes, generator, torch::kFloat64).requires_grad_();
    };
    for (int64_t j = 0; j < sources; ++j) {
      sources_RBTD.push_back(draw({replicas, 2, 3, kWidth}));
    }
    key_RD = draw({replicas, kWidth});
    bias_RC = draw({replicas, sources});
  }

  std::vector<Candidate> Candidates(double eps = 1e-12) const {
    std::vector<Candidate> candidates;
    for (size_t j = 0; j < sources_RBTD.size(); ++j) {
      candidates.push_back(
          {model::MakeSource(sources_RBTD[j], eps, "u" + std::to_string(j)),
           static_cast<int64_t>(j)});
    }
    return candidates;
  }

  Tensor Route(Tensor* weights = nullptr, double eps = 1e-12) const {
    return model::Route(Candidates(eps), {key_RD, bias_RC}, weights);
  }

  std::vector<Tensor> Leaves() const {
    std::vector<Tensor> leaves = sources_RBTD;
    leaves.push_back(key_RD);
    leaves.push_back(bias_RC);
    return leaves;
  }
};

double Error(const Tensor& a, const Tensor& b) {
  return ((a - b).abs().max() / b.abs().max()).item<double>();
}

class RouterOp : public testing::TestWithParam<int64_t> {};

TEST_P(RouterOp, X13WeightsAreAMeanInsideTheHullOfTheSources) {
  const RouterWorld world(GetParam(), 5, 1);
  Tensor a_JRBT;
  const Tensor out = world.Route(&a_JRBT);
  EXPECT_TRUE(a_JRBT.ge(0).all().item<bool>());
  EXPECT_LE((a_JRBT.sum(0) - 1).abs().max().item<double>(), 1e-12);
  const Tensor stacked = torch::stack(world.sources_RBTD);
  EXPECT_TRUE(out.le(stacked.amax(0) + 1e-12).all().item<bool>());
  EXPECT_TRUE(out.ge(stacked.amin(0) - 1e-12).all().item<bool>());
}

TEST_P(RouterOp, X13ScalingASourceLeavesTheWeights) {
  RouterWorld world(GetParam(), 4, 2);
  Tensor before;
  Tensor after;
  world.Route(&before, 1e-300);
  world.sources_RBTD[1] = world.sources_RBTD[1] * 1000;
  world.Route(&after, 1e-300);
  EXPECT_LE((after - before).abs().max().item<double>(), 1e-12);
}

TEST_P(RouterOp, X13PermutingSourcesAndBiasesPermutesTheWeights) {
  RouterWorld world(GetParam(), 4, 3);
  Tensor before;
  Tensor after;
  world.Route(&before);
  std::swap(world.sources_RBTD[0], world.sources_RBTD[3]);
  const Tensor order = torch::tensor({3, 1, 2, 0});
  world.bias_RC = world.bias_RC.index_select(1, order);
  world.Route(&after);
  EXPECT_LE((after.index_select(0, order) - before).abs().max().item<double>(),
            1e-12);
}

TEST_P(RouterOp, X13EqualSourcesShareTheirMassAndGiveThemselves) {
  RouterWorld world(GetParam(), 2, 4);
  world.bias_RC = torch::zeros_like(world.bias_RC);
  Tensor two;
  world.Route(&two);
  world.sources_RBTD.push_back(world.sources_RBTD[1]);
  world.bias_RC = torch::zeros({GetParam(), 3}, torch::kFloat64);
  Tensor three;
  world.Route(&three);
  EXPECT_LE((three[1] - three[2]).abs().max().item<double>(), 1e-12);
  EXPECT_LE((three[1] / three[0] - two[1] / two[0]).abs().max().item<double>(),
            1e-12);
  world.sources_RBTD = {world.sources_RBTD[0], world.sources_RBTD[0],
                        world.sources_RBTD[0]};
  EXPECT_LE(Error(world.Route(), world.sources_RBTD[0]), 1e-12);
}

TEST(RouterOpHand, ZeroQueriesGiveThePlainMean) {
  std::vector<Candidate> candidates;
  for (int64_t j = 0; j < 3; ++j) {
    candidates.push_back({model::MakeSource(
        (torch::arange(1, 5, torch::kFloat64) + 4 * j).view({1, 1, 1, 4}),
        1e-12, "u")});
  }
  const Tensor out =
      model::Route(candidates, {torch::zeros({1, 4}, torch::kFloat64), {}});
  EXPECT_TRUE(torch::allclose(
      out.flatten(), torch::tensor({5.0, 6.0, 7.0, 8.0}, Doubles()), 1e-15, 0));
}

/// Gradients of sum(out * c) for every leaf.
std::vector<Tensor> Gradients(const std::vector<Tensor>& leaves,
                              const Tensor& out, const Tensor& c) {
  return torch::autograd::grad({(out * c).sum()}, leaves);
}

TEST_P(RouterOp, X14TheClosedFormEqualsAutomaticDifferentiation) {
  for (const int64_t sources : {2, 5, 33}) {
    const RouterWorld world(GetParam(), sources, 10 + sources);
    const Tensor c = RouterWorld(GetParam(), 1, 99).sources_RBTD[0].detach();
    const std::vector<Tensor> leaves = world.Leaves();
    const Tensor plain = model::RouteReference(
        world.Candidates(), {world.key_RD, world.bias_RC}, 1e-12);
    const Tensor out = world.Route();
    EXPECT_LE(Error(out, plain), 1e-12);
    const std::vector<Tensor> expected = Gradients(leaves, plain, c);
    const std::vector<Tensor> mine = Gradients(leaves, out, c);
    for (size_t k = 0; k < leaves.size(); ++k) {
      EXPECT_LE(Error(mine[k], expected[k]), 1e-12) << sources << " " << k;
    }
  }
}

TEST_P(RouterOp, X14TheClosedFormEqualsFiniteDifferences) {
  const RouterWorld world(GetParam(), 3, 20);
  const Tensor c = RouterWorld(GetParam(), 1, 99).sources_RBTD[0].detach();
  const std::vector<Tensor> leaves = world.Leaves();
  const std::vector<Tensor> mine = Gradients(leaves, world.Route(), c);
  const torch::NoGradGuard no_grad;
  constexpr double kStep = 1e-6;
  for (size_t k = 0; k < leaves.size(); ++k) {
    Tensor flat = leaves[k].view(-1);
    Tensor numeric = torch::zeros_like(flat);
    for (int64_t i = 0; i < flat.numel(); ++i) {
      const double at = flat[i].item<double>();
      flat[i] = at + kStep;
      const double above = (world.Route() * c).sum().item<double>();
      flat[i] = at - kStep;
      const double below = (world.Route() * c).sum().item<double>();
      flat[i] = at;
      numeric[i] = (above - below) / (2 * kStep);
    }
    EXPECT_LE(Error(mine[k].view(-1), numeric), 1e-6) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Replicas, RouterOp, testing::Values(1, 3));

}  // namespace
}  // namespace leadline::exact
