// X4, and what is exact about the options of routed methods: heads, window,
// static mixing, sources.

#include <algorithm>
#include <string>
#include <vector>

#include "tests/exact/world.h"

namespace leadline::exact {
namespace {

using model::Decoder;
using spec::GivenSettings;
using torch::Tensor;

constexpr int64_t kDepth = 5;

/// Keeps the routers of one pass, and the plain stream before each sublayer.
class Routes final : public model::RouterObserver {
 public:
  void OnEmbeddings(const Tensor& e_RBTD) override {
    streams_RBTD.push_back(e_RBTD.detach());
  }
  void OnRoute(const model::RouteRecord& record) override {
    records.push_back(record);
  }
  void OnSublayer(int64_t, const Tensor&, const Tensor& u_RBTD) override {
    streams_RBTD.push_back(streams_RBTD.back() + u_RBTD.detach());
  }
  std::vector<model::RouteRecord> records;
  std::vector<Tensor> streams_RBTD;
};

struct Variant {
  std::string method;
  GivenSettings options;
};

GivenSettings Merged(GivenSettings options, const GivenSettings& more) {
  for (const auto& [key, value] : more) options[key] = value;
  return options;
}

class RoutingOptions : public testing::TestWithParam<int64_t> {
 protected:
  int64_t replicas() const { return GetParam(); }

  Decoder Make(const Variant& variant,
               const torch::TensorOptions& type = Doubles()) const {
    return Decoder(Small(variant.method, kDepth, variant.options), kVocabulary,
                   SomeSeeds(replicas()), type);
  }
  Decoder MakeShaken(const Variant& variant,
                     const torch::TensorOptions& type = Doubles()) const {
    Decoder decoder = Make(variant, type);
    Shake(decoder, 0.3);
    return decoder;
  }
  PassResult Run(const Decoder& decoder) const {
    return RunPass(decoder, RandomText(replicas()));
  }
  Routes Observe(const Decoder& decoder) const {
    Routes routes;
    decoder.Forward(RandomText(replicas()).tokens_RBT, {.observer = &routes});
    return routes;
  }
  std::vector<model::RouteRecord> RoutesOf(const Decoder& decoder) const {
    return Observe(decoder).records;
  }

  static void ExpectEqualBits(const PassResult& a, const PassResult& b) {
    EXPECT_TRUE(torch::equal(a.logits_RBTV, b.logits_RBTV));
    ASSERT_EQ(a.gradients.size(), b.gradients.size());
    for (const auto& [name, gradient] : a.gradients) {
      ASSERT_TRUE(b.gradients.contains(name)) << name;
      EXPECT_TRUE(torch::equal(gradient, b.gradients.at(name))) << name;
    }
  }

  /// Both, with the same values in parameters of one name.
  void ExpectSameProgram(const Variant& a, const Variant& b) const {
    SCOPED_TRACE(a.method + " and " + b.method);
    for (const auto& type : {Floats(), Doubles()}) {
      const Decoder first = MakeShaken(a, type);
      const Decoder second = Make(b, type);
      CopyShared(first, second);
      ExpectEqualBits(Run(first), Run(second));
    }
  }
};

std::vector<GivenSettings> OptionsOfRouters() {
  return {{},
          {{"key_norm", "off"}},
          {{"static_mixing", "on"}},
          {{"window", int64_t{2}}},
          {{"static_mixing", "on"}, {"window", int64_t{1}}},
          {{"router_init_std", 0.02}}};
}

TEST_P(RoutingOptions, X4BlocksOfOneSublayerAreAttnRes) {
  for (const GivenSettings& options : OptionsOfRouters()) {
    ExpectSameProgram(
        {"block_attnres", Merged(options, {{"block_sublayers", int64_t{1}}})},
        {"attnres", options});
  }
}

TEST_P(RoutingOptions, X4OneHeadIsItsBase) {
  const GivenSettings three = {{"block_sublayers", int64_t{3}}};
  for (const GivenSettings& options : OptionsOfRouters()) {
    GivenSettings one = Merged(options, {{"router_heads", int64_t{1}}});
    ExpectSameProgram({"mhar", one}, {"attnres", options});
    one["base"] = std::string("block");
    ExpectSameProgram({"mhar", Merged(one, three)},
                      {"block_attnres", Merged(options, three)});
  }
}

TEST_P(RoutingOptions, BlocksOfOneSublayerAreAttnResWithAnyHeads) {
  for (const int64_t heads : {2, 16}) {
    const GivenSettings full = {{"router_heads", heads}};
    ExpectSameProgram(
        {"mhar", full},
        {"mhar",
         Merged(full, {{"base", "block"}, {"block_sublayers", int64_t{1}}})});
  }
}

/// Every routed method, and the window that shows all it has.
std::vector<std::pair<Variant, int64_t>> WithWholeWindows() {
  const GivenSettings three = {{"block_sublayers", int64_t{3}}};
  const GivenSettings four = {{"block_sublayers", int64_t{4}}};
  return {{{"attnres", {}}, 2 * kDepth},
          {{"attnres", {{"sources", "states"}}}, 2 * kDepth},
          {{"attnres", {{"static_mixing", "on"}}}, 2 * kDepth},
          {{"mhar", {}}, 2 * kDepth},
          {{"block_attnres", four}, 2},
          {{"delta_attnres", {}}, 2 * kDepth},
          {{"delta_attnres", {{"sources", "states"}}}, 2 * kDepth},
          {{"delta_attnres", {{"static_mixing", "on"}}}, 2 * kDepth},
          {{"delta_block", four}, 2},
          {{"delta_block_nopartial", four}, 2},
          {{"delta_block_repo", four}, 2},
          {{"wav", four}, 2},
          {{"haares", three}, 3},
          {{"haares_random", three}, 3}};
}

TEST_P(RoutingOptions, AWindowThatShowsEverythingChangesNoBit) {
  for (const auto& [variant, whole] : WithWholeWindows()) {
    for (const int64_t window : {whole, int64_t{512}}) {
      ExpectSameProgram(
          variant,
          {variant.method, Merged(variant.options, {{"window", window}})});
    }
  }
}

TEST_P(RoutingOptions, AWindowShowsTheNewestUpdates) {
  for (const char* sources : {"updates", "states"}) {
    const bool states = std::string(sources) == "states";
    const auto routes = RoutesOf(MakeShaken(
        {"attnres", {{"window", int64_t{3}}, {"sources", sources}}}));
    ASSERT_EQ(routes.size(), 2 * kDepth + 1);
    for (int64_t q = 0; q <= 2 * kDepth; ++q) {
      std::vector<std::string> expected = {"e"};
      for (int64_t i = std::max<int64_t>(0, q - 3); i < q; ++i) {
        expected.push_back(states ? "h" + std::to_string(i + 1)
                                  : "u" + std::to_string(i));
      }
      EXPECT_EQ(routes[q].labels, expected) << q;
    }
  }
}

TEST_P(RoutingOptions, AWindowShowsFinishedBlocksAndTheRunningOne) {
  // Ten sublayers in blocks of four: the last one is short.
  const GivenSettings options = {{"block_sublayers", int64_t{4}},
                                 {"window", int64_t{1}}};
  using Labels = std::vector<std::string>;
  const auto plain = RoutesOf(MakeShaken({"block_attnres", options}));
  EXPECT_EQ(plain[0].labels, (Labels{"e"}));
  EXPECT_EQ(plain[3].labels, (Labels{"e", "P"}));
  EXPECT_EQ(plain[4].labels, (Labels{"e", "C0"}));
  EXPECT_EQ(plain[5].labels, (Labels{"e", "C0", "P"}));
  EXPECT_EQ(plain[8].labels, (Labels{"e", "C1"}));
  EXPECT_EQ(plain[9].labels, (Labels{"e", "C1", "P"}));
  EXPECT_EQ(plain[10].labels, (Labels{"e", "C1", "P"}));
  const auto wav = RoutesOf(MakeShaken({"wav", options}));
  EXPECT_EQ(wav[8].labels, (Labels{"e", "C1", "Dphi1", "Dsig1"}));
  EXPECT_EQ(wav[9].labels,
            (Labels{"e", "C1", "Dphi1", "Dsig1", "P", "Pphi", "Psig"}));
  EXPECT_EQ(wav[10].labels, (Labels{"e", "C1", "P"}));
}

TEST_P(RoutingOptions, X6SourcesOfAttnResSumToTheStream) {
  for (const char* method : {"attnres", "mhar"}) {
    const Routes seen = Observe(MakeShaken({method, {}}));
    ASSERT_EQ(seen.records.size(), seen.streams_RBTD.size());
    for (size_t q = 0; q < seen.records.size(); ++q) {
      const Tensor sum_RBTD = torch::stack(seen.records[q].sources_RBTD).sum(0);
      EXPECT_LE(LogitError(sum_RBTD, seen.streams_RBTD[q]), 1e-12) << q;
    }
  }
}

TEST_P(RoutingOptions, StatesAreThePlainStream) {
  const Routes seen = Observe(MakeShaken({"attnres", {{"sources", "states"}}}));
  for (size_t q = 0; q < seen.records.size(); ++q) {
    const std::vector<Tensor>& states = seen.records[q].sources_RBTD;
    ASSERT_EQ(states.size(), q + 1);
    for (size_t i = 0; i <= q; ++i) {
      EXPECT_TRUE(torch::equal(states[i], seen.streams_RBTD[i])) << q;
    }
  }
}

TEST_P(RoutingOptions, ReadingTheNewestStateAloneIsPreNorm) {
  const Decoder routed = Make(
      {"attnres", {{"sources", "states"}, {"static_mixing", "on"}}}, Floats());
  const Decoder plain = MakeShaken({"prenorm", {}}, Floats());
  CopyShared(plain, routed);
  {
    const torch::NoGradGuard no_grad;
    for (int64_t q = 0; q <= 2 * kDepth; ++q) {
      Parameter(routed, "router.b." + std::to_string(q))
          .select(1, -1)
          .fill_(1000);  // the others weigh exp(-1000), which is 0
    }
  }
  EXPECT_TRUE(torch::equal(Run(routed).logits_RBTV, Run(plain).logits_RBTV));
}

/// Static mixing in every routed method.
std::vector<Variant> StaticVariants() {
  const GivenSettings on = {{"static_mixing", "on"}};
  const GivenSettings four = {{"block_sublayers", int64_t{4}}};
  return {{"attnres", on},
          {"block_attnres", Merged(on, four)},
          {"mhar", on},
          {"wav", Merged(on, four)}};
}

TEST_P(RoutingOptions, StaticMixingStartsAsZeroQueriesDo) {
  for (const Variant& variant : StaticVariants()) {
    GivenSettings options = variant.options;
    options.erase("static_mixing");
    const PassResult queries = Run(Make({variant.method, options}));
    const PassResult numbers = Run(Make(variant));
    EXPECT_TRUE(torch::equal(numbers.logits_RBTV, queries.logits_RBTV));
    for (const auto& [name, gradient] : numbers.gradients) {
      EXPECT_NE(name, "router.w");
      EXPECT_NE(name, "router.g");
      if (name.starts_with("router.")) continue;
      // Sums of the same terms: only their rounding is the compiler's.
      EXPECT_TRUE(
          torch::allclose(gradient, queries.gradients.at(name), 1e-11, 1e-14))
          << variant.method << " " << name;
    }
  }
}

TEST_P(RoutingOptions, StaticWeightsAreThoseOfTheNumbersAtEveryToken) {
  for (const Variant& variant : StaticVariants()) {
    const Decoder decoder = MakeShaken(variant);
    for (const model::RouteRecord& route : RoutesOf(decoder)) {
      Tensor b_RJ =
          Parameter(decoder, "router.b." + std::to_string(route.router))
              .detach()
              .clone();
      ASSERT_EQ(b_RJ.size(1), static_cast<int64_t>(route.labels.size()));
      for (size_t j = 0; j < route.labels.size(); ++j) {
        const std::string& label = route.labels[j];
        const bool phase = label.find("phi") != std::string::npos;
        if (!phase && label.find("sig") == std::string::npos) continue;
        b_RJ.select(1, static_cast<int64_t>(j))
            .add_(Parameter(decoder, "wav.beta")
                      .detach()
                      .select(1, route.router)
                      .select(1, phase ? 0 : 1));
      }
      const Tensor expected_JR = torch::softmax(b_RJ, 1).transpose(0, 1);
      EXPECT_LE((route.weights_JRBT - expected_JR.unsqueeze(-1).unsqueeze(-1))
                    .abs()
                    .max()
                    .item<double>(),
                1e-15)
          << variant.method << " " << route.router;
    }
  }
}

TEST_P(RoutingOptions, GradientsOfStaticNumbersAreFiniteDifferences) {
  for (const Variant& variant : StaticVariants()) {
    const Decoder decoder = MakeShaken(variant);
    const PassResult result = Run(decoder);
    constexpr double kStep = 1e-5;
    for (const int64_t q : {int64_t{1}, kDepth, 2 * kDepth}) {
      // Scales of details have no gradient, so what is read later does not
      // follow the loss.
      if (variant.method == "wav" && q != 2 * kDepth) continue;
      const std::string name = "router.b." + std::to_string(q);
      const Tensor b_RJ = Parameter(decoder, name);
      for (int64_t j = 0; j < b_RJ.size(1); ++j) {
        const auto loss_at = [&](double by) {
          const torch::NoGradGuard no_grad;
          b_RJ.select(1, j).add_(by);
          const Text text = RandomText(replicas());
          const Tensor loss_R =
              model::TokenLosses(decoder.Forward(text.tokens_RBT),
                                 text.targets_RBT)
                  .mean({1, 2});
          b_RJ.select(1, j).sub_(by);
          return loss_R;
        };
        const Tensor slope_R = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
        EXPECT_LE((slope_R - result.gradients.at(name).select(1, j))
                      .abs()
                      .max()
                      .item<double>(),
                  1e-8)
            << variant.method << " " << name << " " << j;
      }
    }
    // The router of one source has nothing to weigh.
    EXPECT_TRUE(result.gradients.at("router.b.0").eq(0).all().item<bool>());
  }
}

TEST_P(RoutingOptions, EveryHeadWeighsByItself) {
  const auto routes = RoutesOf(MakeShaken({"mhar", {}}));
  for (const model::RouteRecord& route : routes) {
    const Tensor& a_JRBTG = route.head_weights_JRBTG;
    ASSERT_EQ(a_JRBTG.size(-1), 8);
    EXPECT_LE((a_JRBTG.sum(0) - 1).abs().max().item<double>(), 1e-12);
    EXPECT_TRUE(torch::equal(route.weights_JRBT, a_JRBTG.mean(-1)));
    if (route.router == 0) continue;
    EXPECT_FALSE(torch::equal(a_JRBTG.select(-1, 0), a_JRBTG.select(-1, 1)));
  }
}

INSTANTIATE_TEST_SUITE_P(Replicas, RoutingOptions, testing::Values(1, 3));

}  // namespace
}  // namespace leadline::exact
