// X17: states, streams and norms of methods without routers.

#include <cmath>

#include "model/random_streams.h"
#include "tests/exact/world.h"

namespace leadline::exact {
namespace {

using model::Decoder;
using spec::GivenSettings;
using torch::Tensor;

GivenSettings Streams(int64_t streams) { return {{"streams", streams}}; }
GivenSettings Word(const char* key, const char* word) {
  return {{key, std::string(word)}};
}

struct X17Case {
  std::string name;
  std::string method;
  GivenSettings options;
};

void PrintTo(const X17Case& c, std::ostream* out) { *out << c.name; }

class X17 : public testing::TestWithParam<X17Case> {
 protected:
  /// Calls `expect`(ours, prenorm's) at several depths, alone and fused.
  template <typename Expect>
  void Compare(const torch::TensorOptions& type, const Expect& expect) const {
    for (const int64_t depth : {2, 5, 12}) {
      for (const int64_t replicas : {1, 3}) {
        const Text text = RandomText(replicas);
        const std::vector<int64_t> seeds = SomeSeeds(replicas);
        expect(
            RunPass(Decoder(Small(GetParam().method, depth, GetParam().options),
                            kVocabulary, seeds, type),
                    text),
            RunPass(Decoder(Small("prenorm", depth), kVocabulary, seeds, type),
                    text));
      }
    }
  }
};

class X17Averages : public X17 {};

TEST_P(X17Averages, X17StartAsPreNormBitForBit) {
  for (const auto& type : {Floats(), Doubles()}) {
    Compare(type, [](const PassResult& ours, const PassResult& plain) {
      EXPECT_TRUE(torch::equal(ours.logits_RBTV, plain.logits_RBTV));
      for (const auto& [name, gradient] : plain.gradients) {
        EXPECT_TRUE(torch::equal(ours.gradients.at(name), gradient)) << name;
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Options, X17Averages,
                         testing::Values(X17Case{"plain", "denseformer", {}},
                                         X17Case{"dilation2",
                                                 "denseformer",
                                                 {{"dilation", int64_t{2}}}},
                                         X17Case{"dilation3_period2",
                                                 "denseformer",
                                                 {{"dilation", int64_t{3}},
                                                  {"period", int64_t{2}}}}),
                         [](const auto& info) { return info.param.name; });

class X17Streams : public X17 {};

TEST_P(X17Streams, X17StartAsPreNorm) {
  Compare(Doubles(), [](const PassResult& ours, const PassResult& plain) {
    EXPECT_LE(LogitError(ours.logits_RBTV, plain.logits_RBTV), 1e-8);
    EXPECT_LE(GradientError(ours.gradients, plain.gradients), 1e-7);
  });
  Compare(Floats(), [](const PassResult& ours, const PassResult& plain) {
    EXPECT_LE(LogitError(ours.logits_RBTV, plain.logits_RBTV), 1e-5);
  });
}

INSTANTIATE_TEST_SUITE_P(
    Options, X17Streams,
    testing::Values(
        X17Case{"hc", "hyper_connections", {}},
        X17Case{"hc_8", "hyper_connections", Streams(8)},
        X17Case{"hc_static", "hyper_connections", Word("dynamic", "off")},
        X17Case{"mhc", "mhc", {}}, X17Case{"mhc_2", "mhc", Streams(2)},
        X17Case{"mhc_lite", "mhc", Word("residual", "permutations")}),
    [](const auto& info) { return info.param.name; });

/// How far apart the streams are before each sublayer: the largest mean over
/// tokens of rms(h_s - mean) / rms(mean).
class Spread final : public model::RouterObserver {
 public:
  void OnStreams(int64_t sublayer, const Tensor& streams_RBTMD) override {
    EXPECT_EQ(sublayer, seen++);
    EXPECT_FALSE(streams_RBTMD.requires_grad());
    const Tensor mean = streams_RBTMD.mean(3, true);
    const Tensor away =
        (streams_RBTMD - mean).square().mean(-1).sqrt().mean(-1);
    const Tensor size = mean.square().mean(-1).sqrt().squeeze(-1);
    most = std::max(most, (away / size).mean().item<double>());
  }
  int64_t seen = 0;
  double most = 0;
};

/// The spread after 20 steps of training; `equal`: streams start alike.
double SpreadAfterTraining(const spec::Settings& settings, bool equal) {
  const Decoder decoder(settings, kVocabulary, SomeSeeds(2), Doubles());
  std::vector<Tensor> values;
  for (const model::NamedParameter& p : decoder.parameters_in_order()) {
    const torch::NoGradGuard no_grad;
    if (equal && p.name.ends_with(".bpre")) Tensor(p.tensor).fill_(0.5);
    values.push_back(p.tensor);
  }
  torch::optim::Adam optimizer(values, torch::optim::AdamOptions(1e-3));
  const Text text = RandomText(2);
  for (int64_t step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    model::TokenLosses(decoder.Forward(text.tokens_RBT), text.targets_RBT)
        .mean({1, 2})
        .sum()
        .backward();
    optimizer.step();
  }
  Spread spread;
  decoder.Forward(text.tokens_RBT, {.observer = &spread});
  EXPECT_EQ(spread.seen, 2 * settings.depth());
  return spread.most;
}

TEST(MhcStreams, SpreadApartBecauseTheyAreReadUnequally) {
  EXPECT_GT(SpreadAfterTraining(Small("mhc", 3), false), 1e-4);
  EXPECT_LT(SpreadAfterTraining(Small("mhc", 3), true), 1e-8);
}

TEST(DeepNorm, X20DrawsAreDividedBeforeTheyAreRounded) {
  const Decoder decoder(Small("deepnorm", 5), kVocabulary, {9, 4}, Floats());
  const double divisor = std::pow(8.0 * 5, 0.25);
  for (const model::NamedParameter& p : decoder.parameters_in_order()) {
    if (p.name.ends_with(".g")) continue;
    const std::string last = p.name.substr(p.name.rfind('.') + 1);
    const bool divided =
        last == "wv" || last == "wo" || last == "wg" || last == "wd";
    EXPECT_TRUE(torch::equal(
        p.tensor, model::DrawNormal({9, 4}, p.name, p.tensor.sizes().slice(1),
                                    divided ? 0.02 / divisor : 0.02)))
        << p.name;
  }
}

TEST(DeepNorm, StreamHasUnitSizeEverywhere) {
  class Inputs final : public model::RouterObserver {
   public:
    void OnSublayer(int64_t l, const Tensor& x_RBTD, const Tensor&) override {
      if (l == 0) return;
      EXPECT_LE((x_RBTD.square().mean(-1) - 1).abs().max().item<double>(),
                1e-8);
    }
  };
  const Decoder decoder(Small("deepnorm", 5), kVocabulary, {1}, Doubles());
  Inputs inputs;
  decoder.Forward(RandomText(1).tokens_RBT, {.observer = &inputs});
}

}  // namespace
}  // namespace leadline::exact
