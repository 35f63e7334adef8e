// X15, R1, R2, and the number of calls: tokens do not see the future, replicas
// do not see each other.

#include <ATen/record_function.h>

#include "tests/exact/variants.h"
#include "tests/exact/world.h"

namespace leadline::exact {
namespace {

using model::Decoder;
using torch::Tensor;

class Replicas : public testing::TestWithParam<Case> {
 protected:
  Decoder Make(const std::vector<int64_t>& seeds,
               const torch::TensorOptions& type = Doubles()) const {
    const Case& c = GetParam();
    return Decoder(SettingsOf(c.variant, c.depth), kVocabulary, seeds, type);
  }
};

TEST_P(Replicas, X15LaterTokensDoNotChangeEarlierLogits) {
  const torch::NoGradGuard no_grad;
  const int64_t replicas = GetParam().replicas;
  const Decoder decoder = Make(SomeSeeds(replicas));
  Shake(decoder, 0.2);
  const Tensor tokens_RBT = RandomText(replicas).tokens_RBT;
  const Tensor before = decoder.Forward(tokens_RBT);
  constexpr int64_t kChanged = 4;
  Tensor other_RBT = tokens_RBT.clone();
  other_RBT.select(2, kChanged).add_(1).remainder_(kVocabulary);
  const Tensor after = decoder.Forward(other_RBT);
  EXPECT_TRUE(
      torch::equal(after.slice(2, 0, kChanged), before.slice(2, 0, kChanged)));
  EXPECT_FALSE(
      torch::equal(after.select(2, kChanged), before.select(2, kChanged)));
}

/// Three replicas.
class FusedReplicas : public Replicas {};

TEST_P(FusedReplicas, R1NothingOfOneReplicaReachesAnother) {
  for (const auto& type : {Floats(), Doubles()}) {
    const Text text = RandomText(3);
    const Decoder first = Make({4, 5, 6}, type);
    Shake(first, 0.2);
    const Decoder second = Make({4, 50, 6}, type);  // another seed
    CopyShared(first, second);
    Text other = text;  // other data, and other weights, one of them NaN
    other.tokens_RBT = text.tokens_RBT.clone();
    other.tokens_RBT[1] = (text.tokens_RBT[1] + 3).remainder(kVocabulary);
    {
      const torch::NoGradGuard no_grad;
      for (const model::NamedParameter& p : second.parameters_in_order()) {
        p.tensor[1].mul_(-1.5);
      }
      Parameter(second, "layers.1.mlp.wd")[1].fill_(NAN);
    }
    const PassResult a = RunPass(first, text);
    const PassResult b = RunPass(second, other);
    for (const int64_t r : {0, 2}) {
      EXPECT_TRUE(torch::equal(a.logits_RBTV[r], b.logits_RBTV[r]));
      for (const auto& [name, gradient] : a.gradients) {
        EXPECT_TRUE(torch::equal(gradient[r], b.gradients.at(name)[r])) << name;
      }
    }
    EXPECT_TRUE(b.loss_R[1].isnan().item<bool>());
  }
}

TEST_P(FusedReplicas, R2AReplicaAmongOthersEqualsItselfAlone) {
  struct Limits {
    torch::TensorOptions type;
    double logits;
    double gradients;
  };
  for (const auto& [type, logit_limit, gradient_limit] :
       {Limits{Doubles(), 1e-12, 1e-11}, Limits{Floats(), 1e-5, 5e-4}}) {
    const Text text = RandomText(3);
    const Decoder fused = Make({4, 5, 6}, type);
    Shake(fused, 0.2);
    const PassResult all = RunPass(fused, text);
    for (int64_t r = 0; r < 3; ++r) {
      const Decoder solo = Make({4 + r}, type);
      {
        const torch::NoGradGuard no_grad;
        for (const model::NamedParameter& p : solo.parameters_in_order()) {
          Tensor(p.tensor).copy_(Parameter(fused, p.name).slice(0, r, r + 1));
        }
      }
      const PassResult alone =
          RunPass(solo, {text.tokens_RBT.slice(0, r, r + 1),
                         text.targets_RBT.slice(0, r, r + 1)});
      std::map<std::string, Tensor> mine;
      for (const auto& [name, gradient] : all.gradients) {
        mine[name] = gradient.slice(0, r, r + 1);
      }
      EXPECT_LE(
          LogitError(all.logits_RBTV.slice(0, r, r + 1), alone.logits_RBTV),
          logit_limit);
      EXPECT_LE(GradientError(mine, alone.gradients), gradient_limit);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, Replicas, testing::ValuesIn(Cases()),
                         [](const auto& info) { return NameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(Registry, FusedReplicas,
                         testing::ValuesIn(FusedCases()),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace
}  // namespace leadline::exact
