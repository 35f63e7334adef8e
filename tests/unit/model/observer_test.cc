#include "model/router/observer.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/decoder.h"
#include "model/losses.h"
#include "model/router/source_name.h"
#include "tests/support/cell_settings.h"

namespace leadline::model {
namespace {

using ::testing::ElementsAre;
using torch::Tensor;

constexpr int64_t kVocabulary = 11;

Decoder MakeDecoder(const std::string& method) {
  spec::GivenSettings given;
  if (method == "wav" || method == "block_attnres") {
    given["block_sublayers"] = int64_t{4};
  }
  return {testing::CellSettings(method, given),
          kVocabulary,
          {1, 2},
          torch::kFloat64};
}

Tensor Tokens() {
  return torch::arange(20).remainder(kVocabulary).view({2, 2, 5});
}

class Recorder : public RouterObserver {
 public:
  void OnEmbeddings(const Tensor& e_RBTD) override {
    order.push_back("e");
    sum_RBTD = e_RBTD.detach();
  }
  bool Keeps(int64_t, std::string_view label) const override {
    return std::find(left_out.begin(), left_out.end(), label) == left_out.end();
  }
  void OnRoute(const RouteRecord& record) override {
    order.push_back("r" + std::to_string(record.router));
    routes.push_back(record);
  }
  void OnSublayer(int64_t l, const Tensor& x_RBTD,
                  const Tensor& u_RBTD) override {
    order.push_back("s" + std::to_string(l));
    inputs.push_back(x_RBTD.detach());
    updates.push_back(u_RBTD.detach());
    sum_RBTD = sum_RBTD + u_RBTD.detach();
    if (!u_RBTD.requires_grad()) return;
    gradients.resize(std::max<size_t>(gradients.size(), l + 1));
    u_RBTD.register_hook(
        [this, l](const Tensor& gradient) { gradients[l] = gradient; });
  }

  std::vector<std::string> left_out;
  std::vector<std::string> order;
  std::vector<RouteRecord> routes;
  std::vector<Tensor> inputs;
  std::vector<Tensor> updates;
  std::vector<Tensor> gradients;
  Tensor sum_RBTD;
};

TEST(Observer, SeesThePassInItsOrder) {
  Recorder seen;
  MakeDecoder("block_attnres").Forward(Tokens(), {.observer = &seen});
  EXPECT_THAT(seen.order,
              ElementsAre("e", "r0", "s0", "r1", "s1", "r2", "s2", "r3", "s3",
                          "r4", "s4", "r5", "s5", "r6"));
}

TEST(Observer, UpdatesSumToTheStreamAndInputsAreWhatSublayersRead) {
  for (const char* method : {"prenorm", "wav"}) {
    Recorder seen;
    MakeDecoder(method).Forward(Tokens(), {.observer = &seen});
    ASSERT_EQ(seen.inputs.size(), 6U);
    for (const RouteRecord& record : seen.routes) {
      if (record.router == 6) continue;
      EXPECT_TRUE(torch::equal(record.out_RBTD, seen.inputs[record.router]));
    }
    if (seen.routes.empty()) {
      EXPECT_FALSE(torch::equal(seen.sum_RBTD, seen.inputs[5]));
    } else {
      EXPECT_TRUE(
          torch::allclose(seen.sum_RBTD, seen.routes[6].sources_RBTD[0] +
                                             seen.routes[6].sources_RBTD[1] +
                                             seen.routes[6].sources_RBTD[2]));
    }
  }
}

TEST(Observer, AHookOnAnUpdateSeesItsWholeGradient) {
  // An update is linear in its sublayer's last matrix W, so <dL/du, u> is
  // <dL/dW, W>, in each replica.
  for (const char* method : {"prenorm", "block_attnres", "wav"}) {
    const Decoder decoder = MakeDecoder(method);
    Recorder seen;
    TokenLosses(decoder.Forward(Tokens(), {.observer = &seen}),
                Tokens().flip(2))
        .sum()
        .backward();
    ASSERT_EQ(seen.gradients.size(), 6U) << method;
    for (const NamedParameter& p : decoder.parameters_in_order()) {
      const bool attention = p.name.ends_with("attn.wo");
      if (!attention && !p.name.ends_with("mlp.wd")) continue;
      const size_t l = 2 * (p.name.at(7) - '0') + (attention ? 0 : 1);
      const Tensor want_R = (p.tensor.grad() * p.tensor).sum({1, 2}).detach();
      const Tensor got_R =
          (seen.gradients[l] * seen.updates[l]).sum({1, 2, 3}).detach();
      EXPECT_TRUE(torch::allclose(got_R, want_R, 1e-10, 1e-14))
          << method << " " << p.name;
    }
  }
}

TEST(Observer, SourcesCarryWhatARouterMakesOfThem) {
  Recorder seen;
  MakeDecoder("wav").Forward(Tokens(), {.observer = &seen});
  const RouteRecord& record = seen.routes[5];
  ASSERT_EQ(record.labels.size(), 7U);
  EXPECT_THAT(record.bias_columns, ElementsAre(-1, -1, 0, 1, -1, 0, 1));
  for (size_t j = 0; j < record.labels.size(); ++j) {
    EXPECT_EQ(record.scales_RBT[j].defined(),
              ReadSourceName(record.labels[j]).detail());
    EXPECT_TRUE(torch::allclose(
        record.inverse_rms_RBT[j],
        (record.sources_RBTD[j].square().mean(-1) + 1e-12).rsqrt()));
  }
}

TEST(Observer, SourcesLeftOutDoNotExistForTheRouter) {
  const Decoder wav = MakeDecoder("wav");
  const Decoder plain = MakeDecoder("block_attnres");
  Recorder without;
  without.left_out = {"Dphi0", "Dsig0", "Pphi", "Psig"};
  EXPECT_TRUE(torch::equal(wav.Forward(Tokens(), {.observer = &without}),
                           plain.Forward(Tokens())));
  EXPECT_FALSE(torch::equal(wav.Forward(Tokens()), plain.Forward(Tokens())));
}

TEST(Observer, ARouterIsNeverLeftWithNothing) {
  Recorder without;
  without.left_out = {"e"};
  MakeDecoder("block_attnres").Forward(Tokens(), {.observer = &without});
  EXPECT_THAT(without.routes[0].labels, ElementsAre("e"));
  EXPECT_THAT(without.routes[1].labels, ElementsAre("P"));
  EXPECT_THAT(without.routes[6].labels, ElementsAre("C0", "P"));
}

TEST(SourceName, IsReadFromItsLabel) {
  EXPECT_EQ(ReadSourceName("e"), (SourceName{SourceKind::kEmbedding, -1}));
  EXPECT_EQ(ReadSourceName("u17"), (SourceName{SourceKind::kUpdate, 17}));
  EXPECT_EQ(ReadSourceName("C0"), (SourceName{SourceKind::kBlock, 0}));
  EXPECT_EQ(ReadSourceName("Dphi3"), (SourceName{SourceKind::kPhaseDetail, 3}));
  EXPECT_EQ(ReadSourceName("Psig"), (SourceName{SourceKind::kSplitDetail, -1}));
  EXPECT_EQ(ReadSourceName("null"), (SourceName{SourceKind::kNull, -1}));
  EXPECT_TRUE(ReadSourceName("Psig").running());
  EXPECT_TRUE(ReadSourceName("P").running());
  EXPECT_FALSE(ReadSourceName("C1").running());
  for (const char* wrong : {"", "x", "e1", "C", "C-1", "C1x", "P0",
                            "u99999999999999999999", "D1"}) {
    EXPECT_THROW(ReadSourceName(wrong), c10::Error) << wrong;
  }
}

TEST(SourceName, SaysBeforeWhichSublayerASourceWasBorn) {
  const auto birth = [](const char* label) {
    return ReadSourceName(label).Birth(9, 4);
  };
  EXPECT_EQ(birth("e"), 0);
  EXPECT_EQ(birth("u3"), 4);
  EXPECT_EQ(birth("h3"), 3);
  EXPECT_EQ(birth("C1"), 8);
  EXPECT_EQ(birth("Dsig1"), 8);
  EXPECT_EQ(birth("P"), 9);
  EXPECT_EQ(birth("Pphi"), 9);
  EXPECT_EQ(birth("null"), 9);
}

}  // namespace
}  // namespace leadline::model
