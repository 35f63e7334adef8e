// X1, X2, X3, X16, X19, X20: what models are before the first step.

#include <algorithm>
#include <cmath>
#include <map>

#include "model/spec/cost.h"
#include "tests/exact/variants.h"
#include "tests/exact/world.h"

namespace leadline::exact {
namespace {

using model::Decoder;

std::string Word(const char* word) { return word; }

/// Those that start as prenorm, and 48 layers of each.
std::vector<Case> StartCases() {
  std::vector<Case> cases = Cases();
  for (const Variant& plain : PlainVariants()) {
    cases.push_back({plain, 48, 1});
  }
  std::erase_if(cases,
                [](const Case& c) { return !EqualsPreNormAtStart(c.variant); });
  return cases;
}

/// Settings that the plain model has too.
spec::GivenSettings OfAllMethods(const spec::GivenSettings& options) {
  spec::GivenSettings shared;
  for (const auto& [key, value] : options) {
    if (spec::FindSetting(key)->methods.empty()) shared[key] = value;
  }
  return shared;
}

/// What an eps of 1e-12 may change. A mean over J sources meets eps as J^2 eps
/// would meet their sum, whose mean square is that of the embeddings at least:
/// init_std^2. J is the embedding and as many as there are sublayers or blocks,
/// and perhaps a null source.
double EpsError(const Case& c) {
  const auto blocks = c.variant.options.find("block_sublayers");
  const double length =
      blocks == c.variant.options.end()
          ? 1
          : static_cast<double>(std::get<int64_t>(blocks->second));
  const double most_sources =
      2 + std::ceil(2 * static_cast<double>(c.depth) / length);
  return 2 * 1e-12 * most_sources * most_sources / (0.02 * 0.02);
}

class Start : public testing::TestWithParam<Case> {
 protected:
  const Case& c() const { return GetParam(); }

  void ExpectPreNorm(const char* eps_mode, double eps,
                     const torch::TensorOptions& type, double logit_limit,
                     double gradient_limit) const {
    spec::GivenSettings extra = {{"eps_mode", Word(eps_mode)},
                                 {"norm_eps", eps}};
    if (!Resolves(c().variant, c().depth, extra)) return;  // not offered
    if (c().depth == 48) extra["d_model"] = int64_t{8};
    const Text text = RandomText(c().replicas);
    const std::vector<int64_t> seeds = SomeSeeds(c().replicas);
    const PassResult mine =
        RunPass(Decoder(SettingsOf(c().variant, c().depth, extra), kVocabulary,
                        seeds, type),
                text);
    extra["eps_mode"] = Word("fixed");
    spec::GivenSettings shared = OfAllMethods(c().variant.options);
    for (const auto& [key, value] : extra) shared[key] = value;
    const PassResult plain = RunPass(
        Decoder(Small("prenorm", c().depth, shared), kVocabulary, seeds, type),
        text);
    EXPECT_LE(LogitError(mine.logits_RBTV, plain.logits_RBTV), logit_limit);
    EXPECT_LE(GradientError(mine.gradients, plain.gradients), gradient_limit);
  }
};

TEST_P(Start, X1X2EqualsPreNormForAnyEpsIfCompensated) {
  ExpectPreNorm("compensated", 1e-5, Doubles(), 1e-12, 1e-11);
}

TEST_P(Start, X1X2EqualsPreNormAtTheDefaultEps) {
  ExpectPreNorm("fixed", 1e-12, Doubles(), EpsError(c()), 5 * EpsError(c()));
}

TEST_P(Start, X1X2EqualsPreNormInFloat) {
  const double limit = std::max(1e-5, EpsError(c()));
  ExpectPreNorm("fixed", 1e-12, Floats(), limit, 5 * limit);
}

INSTANTIATE_TEST_SUITE_P(Registry, Start, testing::ValuesIn(StartCases()),
                         [](const auto& info) { return NameOf(info.param); });

/// All but those of `Start`: they must not start as prenorm, or their row of
/// the table, or what is known of their options, is wrong.
std::vector<Case> OtherStarts() {
  std::vector<Case> cases = FusedCases();
  for (Case& c : cases) {
    // A window leaves something out only where there is more than it holds.
    if (!c.variant.options.contains("window")) continue;
    c.variant = c.variant.WithBlocks(BlockLengths(c.variant, c.depth)[0]);
  }
  std::erase_if(cases, [](const Case& c) {
    // With its own block lengths: in blocks of one sublayer a method without a
    // running block lacks nothing.
    const bool says_no = c.variant.options.empty() &&
                         !spec::FindMethod(c.variant.method)
                              ->equals_prenorm_at_start.starts_with("yes");
    return !says_no && !ChangesTheStart(c.variant);
  });
  return cases;
}

class OtherStart : public testing::TestWithParam<Case> {};

TEST_P(OtherStart, X1IsNotPreNormAsTheTablesSay) {
  const Case& c = GetParam();
  const Text text = RandomText(c.replicas);
  const std::vector<int64_t> seeds = SomeSeeds(c.replicas);
  const Decoder plain(
      Small("prenorm", c.depth, OfAllMethods(c.variant.options)), kVocabulary,
      seeds, Doubles());
  const Decoder other(SettingsOf(c.variant, c.depth), kVocabulary, seeds,
                      Doubles());
  EXPECT_GT(LogitError(RunPass(other, text).logits_RBTV,
                       RunPass(plain, text).logits_RBTV),
            1e-4);
}

INSTANTIATE_TEST_SUITE_P(Registry, OtherStart, testing::ValuesIn(OtherStarts()),
                         [](const auto& info) { return NameOf(info.param); });

class EveryCase : public testing::TestWithParam<Case> {
 protected:
  const Case& c() const { return GetParam(); }
  spec::Settings Settings() const { return SettingsOf(c().variant, c().depth); }
};

TEST_P(EveryCase, X3AKeyGainHasNoGradientWhileItsQueryIsZero) {
  const Decoder decoder(Settings(), kVocabulary, SomeSeeds(c().replicas),
                        Doubles());
  const PassResult result = RunPass(decoder, RandomText(c().replicas));
  if (!result.gradients.contains("router.g")) return;
  if (Parameter(decoder, "router.w").ne(0).any().item<bool>()) return;
  EXPECT_TRUE(result.gradients.at("router.g").eq(0).all().item<bool>());
}

TEST_P(EveryCase, X19ParameterCountsAreThoseOfTheFormula) {
  const spec::Settings settings = Settings();
  const Decoder decoder(settings, kVocabulary, SomeSeeds(c().replicas),
                        Floats());
  int64_t all = 0;
  for (const model::NamedParameter& p : decoder.parameters_in_order()) {
    all += p.tensor.numel() / c().replicas;
  }
  EXPECT_EQ(all, spec::CountParameters(settings, kVocabulary));
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryCase, testing::ValuesIn(Cases()),
                         [](const auto& info) { return NameOf(info.param); });

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

TEST_P(EveryMethod, X3AQueryMovesFromZeroItsKeyGainDoesNot) {
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

TEST_P(EveryMethod, X19CountsOfTheMethodAreThoseOfTheFormula) {
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
