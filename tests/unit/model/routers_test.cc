#include "model/methods/routers.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/decoder.h"
#include "model/random_streams.h"
#include "tests/support/cell_settings.h"

namespace leadline::model {
namespace {

using torch::Tensor;

constexpr int64_t kVocabulary = 11;
constexpr int64_t kWidth = 8;
const std::vector<int64_t> kSeeds = {1, 2};

class Records : public RouterObserver {
 public:
  void OnRoute(const RouteRecord& record) override { all.push_back(record); }
  std::vector<RouteRecord> all;
};

/// A decoder of two replicas whose queries are far from zero, and its tokens.
struct World {
  explicit World(const std::string& method, spec::GivenSettings given = {},
                 int64_t routers = 7)
      : decoder((given["block_sublayers"] = int64_t{4},
                 testing::CellSettings(method, given)),
                kVocabulary, kSeeds, torch::kFloat64) {
    w_RQD = DrawNormal(kSeeds, "tests/router.w", {routers, kWidth}, 3.0)
                .to(torch::kFloat64);
    decoder.SetParameter("router.w", w_RQD);
  }

  Tensor Logits(RouterObserver* observer = nullptr) const {
    const Tensor tokens_RBT =
        torch::arange(20).remainder(kVocabulary).view({2, 2, 5});
    return decoder.Forward(tokens_RBT, {.observer = observer}).detach();
  }

  Decoder decoder;
  Tensor w_RQD;  // key gains are one
};

/// The weights of one router by their definition, for methods without biases.
Tensor Weights(const RouteRecord& record, const Tensor& w_RQD, bool normed) {
  std::vector<Tensor> logits_RBT;
  for (const Tensor& v_RBTD : record.sources_RBTD) {
    Tensor z_RBT =
        torch::einsum("rbtd,rd->rbt", {v_RBTD, w_RQD.select(1, record.router)});
    if (normed) z_RBT = z_RBT / (v_RBTD.square().mean(-1) + 1e-12).sqrt();
    logits_RBT.push_back(z_RBT);
  }
  return torch::softmax(torch::stack(logits_RBT), 0);
}

TEST(RouterKeys, AreNormalisedUnlessKeyNormIsOff) {
  for (const bool normed : {true, false}) {
    const World world("block_attnres", {{"key_norm", normed ? "on" : "off"}});
    Records seen;
    world.Logits(&seen);
    ASSERT_EQ(seen.all.size(), 7U);
    for (const RouteRecord& record : seen.all) {
      EXPECT_TRUE(torch::allclose(record.weights_JRBT,
                                  Weights(record, world.w_RQD, normed), 1e-11,
                                  1e-12))
          << record.router << (normed ? " on" : " off");
    }
  }
}

TEST(RouterKeys, KeyNormOnChangesNoBitAndOffDoes) {
  for (const char* method : {"block_attnres", "wav"}) {
    const Tensor plain = World(method).Logits();
    const Tensor on = World(method, {{"key_norm", "on"}}).Logits();
    const Tensor off = World(method, {{"key_norm", "off"}}).Logits();
    EXPECT_TRUE(torch::equal(on, plain)) << method;
    EXPECT_GT((off - plain).norm().item<double>(),
              1e-6 * plain.norm().item<double>())
        << method;
  }
}

/// Two sources and what one static router makes of them.
struct StaticWorld {
  std::vector<Candidate> candidates = {{MakeSource(Draw("u0"), 1e-6, "u0")},
                                       {MakeSource(Draw("u1"), 1e-6, "u1")}};
  Records seen;

  static Tensor Draw(const std::string& name) {
    return DrawNormal(kSeeds, "tests/" + name, {1, 3, kWidth}, 1.0)
        .to(torch::kFloat64);
  }
  const RouteRecord& Route(const Tensor& mixing_RJ, const NullSource& null) {
    const RouterPass pass({.mixing_RJ = {mixing_RJ}}, &seen);
    pass.Route(0, candidates, {}, null);
    return seen.all.back();
  }
};

/// Weights [J] of every token of both replicas.
void ExpectWeights(const RouteRecord& record, const Tensor& logits_J) {
  const Tensor expected_J111 = torch::softmax(logits_J, 0).view({-1, 1, 1, 1});
  EXPECT_TRUE(torch::allclose(record.weights_JRBT,
                              expected_J111.expand_as(record.weights_JRBT),
                              1e-14, 0));
}

TEST(StaticMixing, ANullVectorHasTheFirstNumber) {
  StaticWorld world;
  const Tensor b = torch::tensor({0.5, -1.0, 2.0}, torch::kFloat64);
  const Tensor null_RD = torch::ones({2, kWidth}, torch::kFloat64);
  const RouteRecord& record =
      world.Route(b.expand({2, 3}), {.value_RD = null_RD, .eps = 1e-4});
  EXPECT_EQ(record.labels, (std::vector<std::string>{"null", "u0", "u1"}));
  ExpectWeights(record, b);
  EXPECT_EQ(record.sources_RBTD[0].sizes(), record.sources_RBTD[1].sizes());
}

TEST(StaticMixing, ANullLogitIsItsOwnNumber) {
  StaticWorld world;
  const Tensor b = torch::tensor({-1.0, 2.0}, torch::kFloat64);
  const Tensor logit_R = torch::full({2}, 0.5, torch::kFloat64);
  const RouteRecord& record =
      world.Route(b.expand({2, 2}), {.logit_R = logit_R});
  ExpectWeights(record, torch::tensor({0.5, -1.0, 2.0}, torch::kFloat64));
  EXPECT_FALSE(record.sources_RBTD[0].defined());
}

TEST(StaticMixing, AnotherNumberOfSourcesIsRefused) {
  StaticWorld world;
  EXPECT_THROW(world.Route(torch::zeros({2, 3}, torch::kFloat64), {}),
               c10::Error);
}

TEST(RouterOptions, NeutralValuesChangeNoBitAndOthersDo) {
  for (const char* method : {"block_attnres", "wav"}) {
    const Tensor plain = World(method).Logits();
    EXPECT_TRUE(torch::equal(
        World(method, {{"static_mixing", "off"}, {"window", "off"}}).Logits(),
        plain));
    const Tensor windowed = World(method,
                                  {{"block_sublayers", int64_t{4}},
                                   {"depth", int64_t{5}},
                                   {"window", int64_t{1}}},
                                  11)
                                .Logits();
    const Tensor whole =
        World(method, {{"block_sublayers", int64_t{4}}, {"depth", int64_t{5}}},
              11)
            .Logits();
    EXPECT_GT((windowed - whole).norm().item<double>(),
              1e-6 * whole.norm().item<double>())
        << method;
  }
}

}  // namespace
}  // namespace leadline::model
