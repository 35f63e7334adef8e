#include "model/decoder.h"

#include <string>

#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/methods/registry.h"
#include "model/spec/cost.h"
#include "model/spec/method_table.h"
#include "tests/support/cell_settings.h"

namespace leadline::model {
namespace {

using testing::CellSettings;
using torch::Tensor;

constexpr int64_t kVocabulary = 11;

/// Settings under which every path of a method runs: blocks that end and one
/// that is short.
spec::Settings SettingsOf(std::string_view method,
                          const spec::GivenSettings& changes = {}) {
  spec::GivenSettings given = changes;
  if (spec::BelongsTo(*spec::FindSetting("block_sublayers"), method)) {
    given["block_sublayers"] = int64_t{4};
  }
  return CellSettings(std::string(method), given);
}

Tensor Tokens(int64_t replicas, int64_t sequences = 2, int64_t tokens = 5) {
  torch::manual_seed(9);
  return torch::randint(kVocabulary, {replicas, sequences, tokens},
                        torch::kInt64);
}

/// Counts operator calls that are not made by another one.
class TopLevelCalls {
 public:
  TopLevelCalls() {
    handle_ = at::addGlobalCallback(at::RecordFunctionCallback(&Begin, &End)
                                        .scopes({at::RecordScope::FUNCTION}));
    count_ = 0;
  }
  ~TopLevelCalls() { at::removeCallback(handle_); }
  int64_t count() const { return count_; }

 private:
  static std::unique_ptr<at::ObserverContext> Begin(const at::RecordFunction&) {
    if (depth_++ == 0) ++count_;
    return nullptr;
  }
  static void End(const at::RecordFunction&, at::ObserverContext*) { --depth_; }

  static thread_local int64_t depth_;
  static thread_local int64_t count_;
  at::CallbackHandle handle_ = 0;
};

thread_local int64_t TopLevelCalls::depth_ = 0;
thread_local int64_t TopLevelCalls::count_ = 0;

class EveryMethod : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryMethod, AStepMakesAsManyCallsForThreeReplicasAsForOne) {
  const auto count = [&](const std::vector<int64_t>& seeds) {
    const Decoder decoder(SettingsOf(GetParam()), kVocabulary, seeds,
                          torch::kFloat32);
    const Tensor tokens = Tokens(static_cast<int64_t>(seeds.size()));
    const TopLevelCalls calls;
    TokenLosses(decoder.Forward(tokens), tokens).mean({1, 2}).sum().backward();
    return calls.count();
  };
  const int64_t solo = count({1});
  EXPECT_GT(solo, 50);
  EXPECT_EQ(solo, count({1, 2, 3}));
}

TEST_P(EveryMethod, HasTheParametersTheTableCounts) {
  const spec::Settings settings = SettingsOf(GetParam());
  const Decoder decoder(settings, kVocabulary, {1, 2});
  int64_t count = 0;
  for (const NamedParameter& parameter : decoder.parameters_in_order()) {
    count += parameter.tensor.numel() / 2;
  }
  EXPECT_EQ(count, spec::CountParameters(settings, kVocabulary));
}

TEST_P(EveryMethod, BFloat16StaysNearFloat32) {
  const std::vector<int64_t> seeds = {1};
  const Decoder wide(SettingsOf(GetParam()), kVocabulary, seeds);
  const Decoder narrow(
      SettingsOf(GetParam(), {{"precision", std::string("bf16")}}), kVocabulary,
      seeds);
  const Tensor tokens = Tokens(1);
  const Tensor want = wide.Forward(tokens);
  const Tensor got = narrow.Forward(tokens);
  EXPECT_EQ(got.scalar_type(), torch::kFloat32);
  EXPECT_LT((got - want).norm().item<double>(),
            2e-2 * want.norm().item<double>());
  TokenLosses(got, tokens).mean().backward();
  for (const NamedParameter& parameter : narrow.parameters_in_order()) {
    if (!parameter.tensor.grad().defined()) continue;
    EXPECT_EQ(parameter.tensor.grad().scalar_type(), torch::kFloat32);
  }
}

TEST_P(EveryMethod, DropoutFollowsTheSequencesOfTheGlobalBatch) {
  const Decoder decoder(SettingsOf(GetParam(), {{"dropout", 0.2}}), kVocabulary,
                        {1, 2}, torch::kFloat64);
  const Tensor tokens = Tokens(2, 4);
  const Tensor all = decoder.Forward(tokens, {.training = true, .step = 7});
  const Tensor half =
      decoder.Forward(tokens.narrow(1, 2, 2),
                      {.training = true, .step = 7, .first_sequence = 2});
  EXPECT_TRUE(torch::allclose(all.narrow(1, 2, 2), half, 1e-11, 1e-13));
  EXPECT_FALSE(torch::allclose(all, decoder.Forward(tokens)));
}

TEST_P(EveryMethod, NamesAreDistinctAndMatricesDecay) {
  const Decoder decoder(SettingsOf(GetParam()), kVocabulary, {1});
  std::set<std::string> names;
  for (const NamedParameter& parameter : decoder.parameters_in_order()) {
    EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
    const std::string last =
        parameter.name.substr(parameter.name.rfind('.') + 1);
    const bool matrix =
        std::set<std::string>{"wq", "wk", "wv", "wo", "wg", "wu", "wd"}
            .contains(last);
    EXPECT_EQ(parameter.decay, matrix) << parameter.name;
  }
}

std::vector<std::string> AllMethods() {
  std::vector<std::string> names;
  for (const spec::MethodInfo& method : spec::MethodTable()) {
    names.emplace_back(method.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Decoder, EveryMethod,
                         ::testing::ValuesIn(AllMethods()),
                         [](const auto& info) { return info.param; });

TEST(Decoder, KnowsEveryMethodOfTheTable) {
  for (const spec::MethodInfo& method : spec::MethodTable()) {
    EXPECT_TRUE(HasMethod(method.name)) << method.name;
  }
}

TEST(Decoder, RefusesWhatItCannotTake) {
  Decoder decoder(SettingsOf("prenorm"), kVocabulary, {1, 2});
  EXPECT_THROW(decoder.Forward(Tokens(3)), c10::Error);
  EXPECT_THROW(decoder.Forward(Tokens(2, 1, 13)), c10::Error);
  EXPECT_THROW(decoder.SetParameter("nothing", torch::zeros({2})), c10::Error);
  EXPECT_THROW(decoder.SetParameter("final.norm.g", torch::zeros({2, 7})),
               c10::Error);
  EXPECT_THROW(Decoder(SettingsOf("prenorm"), kVocabulary, {}), c10::Error);
}

TEST(Decoder, ValuesAreSetInPlace) {
  Decoder decoder(SettingsOf("prenorm"), kVocabulary, {1});
  const Tensor tokens = Tokens(1);
  const Tensor gain = decoder.parameters_in_order()[1].tensor;
  ASSERT_EQ(decoder.parameters_in_order()[1].name, "layers.0.attn.norm.g");
  const Tensor before = decoder.Forward(tokens);
  decoder.SetParameter("layers.0.attn.norm.g", torch::full({1, 8}, 2));
  EXPECT_EQ(gain.sum().item<double>(), 16);
  EXPECT_FALSE(torch::equal(before, decoder.Forward(tokens)));
}

class Labels : public RouterObserver {
 public:
  void OnRoute(const RouteRecord& record) override {
    labels.push_back(record.labels);
    EXPECT_EQ(record.router, static_cast<int64_t>(labels.size()) - 1);
    EXPECT_EQ(record.weights_JRBT.size(0),
              static_cast<int64_t>(record.labels.size()));
    EXPECT_FALSE(record.weights_JRBT.requires_grad());
  }
  std::vector<std::vector<std::string>> labels;
};

TEST(Decoder, WavRoutesOverBlocksDetailsAndThePartial) {
  const Decoder decoder(SettingsOf("wav"), kVocabulary, {1});
  Labels seen;
  decoder.Forward(Tokens(1), {.observer = &seen});
  using ::testing::ElementsAre;
  ASSERT_EQ(seen.labels.size(), 7);
  EXPECT_THAT(seen.labels[0], ElementsAre("e"));
  EXPECT_THAT(seen.labels[2], ElementsAre("e", "P", "Pphi", "Psig"));
  EXPECT_THAT(seen.labels[4], ElementsAre("e", "C0", "Dphi0", "Dsig0"));
  EXPECT_THAT(seen.labels[5],
              ElementsAre("e", "C0", "Dphi0", "Dsig0", "P", "Pphi", "Psig"));
  EXPECT_THAT(seen.labels[6], ElementsAre("e", "C0", "P"));
}

}  // namespace
}  // namespace leadline::model
