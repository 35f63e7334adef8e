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
  explicit World(const std::string& method, spec::GivenSettings given = {})
      : decoder((given["block_sublayers"] = int64_t{4},
                 testing::CellSettings(method, given)),
                kVocabulary, kSeeds, torch::kFloat64) {
    w_RQD = DrawNormal(kSeeds, "tests/router.w", {7, kWidth}, 3.0)
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

}  // namespace
}  // namespace leadline::model
