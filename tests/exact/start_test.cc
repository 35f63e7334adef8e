// X1, X2, X3, X16, X19, X20: what models are before the first step.

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>

#include "model/spec/cost.h"
#include "tests/exact/world.h"

namespace leadline::exact {
namespace {

using model::Decoder;
using spec::Value;

std::string Word(const char* word) { return word; }

struct StartCase {
  std::string method;
  int64_t depth;
  int64_t replicas;
  int64_t block_sublayers;  // 0: the method has no blocks
};

void PrintTo(const StartCase& c, std::ostream* out) {
  *out << c.method << " depth " << c.depth << " R " << c.replicas << " S "
       << c.block_sublayers;
}

std::vector<StartCase> StartCases() {
  std::vector<StartCase> cases;
  for (const std::string& method : MethodsEqualAtStart()) {
    const bool blocks =
        spec::BelongsTo(*spec::FindSetting("block_sublayers"), method);
    const bool full = !blocks || method == "mhar";  // mhar has both bases
    for (const int64_t depth : {2, 5, 12}) {
      for (const int64_t replicas : {1, 3}) {
        if (full) cases.push_back({method, depth, replicas, 0});
        for (const int64_t s : {1, 3, 4}) {  // some divide 2L, some do not
          if (blocks) cases.push_back({method, depth, replicas, s});
        }
      }
    }
  }
  return cases;
}

class Start : public testing::TestWithParam<StartCase> {
 protected:
  spec::Settings Of(const std::string& method, const char* eps_mode,
                    double eps) const {
    spec::GivenSettings extra = {{"eps_mode", Word(eps_mode)},
                                 {"norm_eps", eps}};
    if (GetParam().block_sublayers > 0 && method != "prenorm") {
      extra["block_sublayers"] = GetParam().block_sublayers;
      if (method == "mhar") extra["base"] = Word("block");
    }
    return Small(method, GetParam().depth, extra);
  }

  void ExpectPreNorm(const char* eps_mode, double eps,
                     const torch::TensorOptions& type, double logit_limit,
                     double gradient_limit) const {
    const StartCase& c = GetParam();
    const Text text = RandomText(c.replicas);
    const std::vector<int64_t> seeds = SomeSeeds(c.replicas);
    const PassResult plain = RunPass(
        Decoder(Of("prenorm", "fixed", eps), kVocabulary, seeds, type), text);
    const PassResult routed = RunPass(
        Decoder(Of(c.method, eps_mode, eps), kVocabulary, seeds, type), text);
    EXPECT_LE(LogitError(routed.logits_RBTV, plain.logits_RBTV), logit_limit);
    EXPECT_LE(GradientError(routed.gradients, plain.gradients), gradient_limit);
  }
};

TEST_P(Start, X1X2EqualsPreNormForAnyEpsIfCompensated) {
  ExpectPreNorm("compensated", 1e-5, Doubles(), 1e-12, 1e-11);
}

TEST_P(Start, X1X2EqualsPreNormAtTheDefaultEps) {
  // A mean over J sources meets eps as J^2 eps would meet their sum, whose mean
  // square is that of the embeddings at least: init_std^2.
  const StartCase& c = GetParam();
  const double most_sources =
      1 + std::ceil(2.0 * c.depth / std::max<int64_t>(c.block_sublayers, 1));
  const double limit = 2 * 1e-12 * most_sources * most_sources / (0.02 * 0.02);
  ExpectPreNorm("fixed", 1e-12, Doubles(), limit, 5 * limit);
}

TEST_P(Start, X1X2EqualsPreNormInFloat) {
  ExpectPreNorm("fixed", 1e-12, Floats(), 1e-5, 5e-5);
}

INSTANTIATE_TEST_SUITE_P(Registry, Start, testing::ValuesIn(StartCases()),
                         [](const auto& info) {
                           return info.param.method + "_L" +
                                  std::to_string(info.param.depth) + "_R" +
                                  std::to_string(info.param.replicas) + "_S" +
                                  std::to_string(info.param.block_sublayers);
                         });

/// Sources of each router; 0 for one that does not route.
class SourceCounts final : public model::RouterObserver {
 public:
  void OnRoute(const model::RouteRecord& record) override {
    by_router[record.router] = static_cast<int64_t>(record.labels.size());
  }
  std::map<int64_t, int64_t> by_router;
};

class EveryMethod
    : public testing::TestWithParam<std::tuple<std::string, int64_t>> {
 protected:
  std::string method() const { return std::get<0>(GetParam()); }
  int64_t replicas() const { return std::get<1>(GetParam()); }
};

TEST_P(EveryMethod, X3AKeyGainHasNoGradientWhileItsQueryIsZero) {
  const Decoder decoder(Small(method(), 5), kVocabulary, SomeSeeds(replicas()),
                        Doubles());
  const PassResult result = RunPass(decoder, RandomText(replicas()));
  if (result.gradients.contains("router.g")) {
    EXPECT_TRUE(result.gradients.at("router.g").eq(0).all().item<bool>());
    EXPECT_FALSE(result.gradients.at("router.w").eq(0).all().item<bool>());
  }
}

TEST_P(EveryMethod, X3ARouterWithOneSourceHasNoGradient) {
  const Decoder decoder(Small(method(), 5), kVocabulary, SomeSeeds(replicas()),
                        Doubles());
  Shake(decoder, 0.3);
  const Text text = RandomText(replicas());
  SourceCounts counts;
  decoder.Forward(text.tokens_RBT, {.observer = &counts});
  const PassResult result = RunPass(decoder, text);
  for (const char* name : {"router.w", "router.g"}) {
    if (!result.gradients.contains(name)) continue;
    const torch::Tensor gradient_RQD = result.gradients.at(name);
    for (int64_t q = 0; q < gradient_RQD.size(1); ++q) {
      EXPECT_EQ(gradient_RQD.select(1, q).eq(0).all().item<bool>(),
                counts.by_router[q] < 2)
          << name << " " << q;
    }
  }
}

TEST_P(EveryMethod, X19ParameterCountsAreThoseOfTheFormula) {
  for (const int64_t depth : {2, 5, 12}) {
    const spec::Settings settings = Small(method(), depth);
    const auto count = [&](const spec::Settings& of) {
      const Decoder decoder(of, kVocabulary, SomeSeeds(replicas()), Floats());
      int64_t all = 0;
      for (const model::NamedParameter& p : decoder.parameters_in_order()) {
        all += p.tensor.numel() / replicas();
      }
      return all;
    };
    const int64_t all = count(settings);
    EXPECT_EQ(all, spec::CountParameters(settings, kVocabulary));
    EXPECT_EQ(all - count(Small("prenorm", depth)),
              spec::CountMethodParameters(settings));
  }
}

TEST_P(EveryMethod, X20BaseParametersAreThoseOfPreNormForEachSeed) {
  const Decoder plain(Small("prenorm", 5), kVocabulary, {9}, Floats());
  std::vector<int64_t> seeds = SomeSeeds(replicas());
  seeds.back() = 9;
  const Decoder other(Small(method(), 5), kVocabulary, seeds, Floats());
  for (const model::NamedParameter& p : plain.parameters_in_order()) {
    // Post-norm has no norm before the head, and divides its draws.
    if (method() == "deepnorm" && p.name != "embed" &&
        !p.name.ends_with(".wq") && !p.name.ends_with(".wk") &&
        !p.name.ends_with(".wu")) {
      continue;
    }
    const torch::Tensor mine = Parameter(other, p.name).select(0, -1);
    EXPECT_TRUE(torch::equal(mine, p.tensor.select(0, 0))) << p.name;
  }
}

TEST_P(EveryMethod, X20AnotherSeedGivesOtherDraws) {
  const Decoder decoder(Small(method(), 2), kVocabulary, {1, 2}, Floats());
  const torch::Tensor wq = Parameter(decoder, "layers.0.attn.wq");
  EXPECT_FALSE(torch::equal(wq.select(0, 0), wq.select(0, 1)));
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryMethod,
                         testing::Combine(testing::ValuesIn(AllMethods()),
                                          testing::Values(1, 3)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_R" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(X16, ReZeroStartsAsTheHeadOfTheEmbedding) {
  const Decoder decoder(Small("rezero", 5), kVocabulary, SomeSeeds(3),
                        Doubles());
  const Text text = RandomText(3);
  const PassResult before = RunPass(decoder, text);
  for (const auto& [name, gradient] : before.gradients) {
    if (name.starts_with("layers.")) {
      EXPECT_TRUE(gradient.eq(0).all().item<bool>()) << name;
    }
  }
  EXPECT_FALSE(before.gradients.at("rezero.alpha").eq(0).all().item<bool>());
  {
    const torch::NoGradGuard no_grad;
    Parameter(decoder, "layers.3.mlp.wd").add_(1);
    Parameter(decoder, "layers.0.attn.wq").add_(1);
  }
  EXPECT_TRUE(
      torch::equal(RunPass(decoder, text).logits_RBTV, before.logits_RBTV));
}

void ExpectPreNormWhenFilledWithOnes(const char* method, const char* name,
                                     const torch::TensorOptions& type) {
  const Text text = RandomText(3);
  const PassResult plain = RunPass(
      Decoder(Small("prenorm", 5), kVocabulary, SomeSeeds(3), type), text);
  const Decoder gated(Small(method, 5), kVocabulary, SomeSeeds(3), type);
  {
    const torch::NoGradGuard no_grad;
    Parameter(gated, name).fill_(1);
  }
  const PassResult result = RunPass(gated, text);
  EXPECT_TRUE(torch::equal(result.logits_RBTV, plain.logits_RBTV));
  for (const auto& [key, gradient] : plain.gradients) {
    EXPECT_TRUE(torch::equal(result.gradients.at(key), gradient)) << key;
  }
}

TEST(X16, GatesOfOneArePreNormBitForBit) {
  for (const auto& type : {Floats(), Doubles()}) {
    ExpectPreNormWhenFilledWithOnes("rezero", "rezero.alpha", type);
    ExpectPreNormWhenFilledWithOnes("layerscale", "layerscale.lambda", type);
    ExpectPreNormWhenFilledWithOnes("block_layerscale",
                                    "block_layerscale.lambda", type);
  }
}

}  // namespace
}  // namespace leadline::exact
