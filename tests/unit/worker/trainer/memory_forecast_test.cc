// The forecast of memory, held against the tensors that training really keeps
// alive.

#include "model/spec/memory_forecast.h"

#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/spec/method_table.h"
#include "tests/support/cell_settings.h"
#include "tests/support/measured_attempt.h"

namespace leadline::trainer {
namespace {

using testing::CellSettings;

constexpr int64_t kVocabulary = 27;
constexpr double kTolerance = 0.1;

/// Small enough for a second, large enough that no single tensor decides.
spec::GivenSettings Narrow(int64_t depth) {
  return {{"depth", depth},
          {"d_model", int64_t{32}},
          {"n_heads", int64_t{2}},
          {"d_ff", int64_t{128}},
          {"context", int64_t{64}},
          {"batch_sequences", int64_t{3}},
          {"eval_windows", int64_t{2}},
          {"precision", std::string("fp32")}};
}

void ExpectForecastHolds(const std::string& method,
                         const spec::GivenSettings& given, int64_t replicas,
                         int64_t vocabulary = kVocabulary) {
  const spec::Settings settings = CellSettings(method, given);
  const auto forecast = static_cast<double>(
      spec::ForecastMemory(settings, vocabulary, replicas).peak);
  const auto measured = static_cast<double>(
      testing::MeasurePeakBytes(settings, replicas, vocabulary));
  EXPECT_NEAR(forecast / measured, 1, kTolerance)
      << method << ": forecast " << forecast << ", measured " << measured;
  ::testing::Test::RecordProperty("ratio", std::to_string(forecast / measured));
}

class MemoryOfEveryMethod : public ::testing::TestWithParam<std::string> {};

TEST_P(MemoryOfEveryMethod, HoldsAtTwelveLayers) {
  ExpectForecastHolds(GetParam(), Narrow(12), 1);
  ExpectForecastHolds(GetParam(), Narrow(12), 3);
}

TEST_P(MemoryOfEveryMethod, HoldsAtFortyEightLayers) {
  ExpectForecastHolds(GetParam(), Narrow(48), 1);
}

TEST_P(MemoryOfEveryMethod, HoldsForReplicasInDoublePrecision) {
  spec::GivenSettings given = Narrow(48);
  given["precision"] = std::string("fp64");
  given["batch_sequences"] = int64_t{1};
  ExpectForecastHolds(GetParam(), given, 3);
}

TEST_P(MemoryOfEveryMethod, HoldsWhereActivationsAreAlmostAll) {
  spec::GivenSettings given = Narrow(12);
  given["batch_sequences"] = int64_t{32};
  ExpectForecastHolds(GetParam(), given, 1);
}

TEST_P(MemoryOfEveryMethod, HoldsWhereParametersAreAlmostAll) {
  spec::GivenSettings given = Narrow(12);
  given["batch_sequences"] = int64_t{1};
  given["context"] = int64_t{8};
  given["d_model"] = int64_t{64};
  given["d_ff"] = int64_t{256};
  ExpectForecastHolds(GetParam(), given, 1);
}

std::vector<std::string> AllMethods() {
  std::vector<std::string> names;
  for (const spec::MethodInfo& method : spec::MethodTable()) {
    names.emplace_back(method.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Memory, MemoryOfEveryMethod,
                         ::testing::ValuesIn(AllMethods()),
                         [](const auto& info) { return info.param; });

/// One option that changes what is kept.
struct Variant {
  std::string method;
  spec::GivenSettings given;
  std::string name;
};

std::ostream& operator<<(std::ostream& out, const Variant& variant) {
  return out << variant.name;
}

class MemoryOfOptions : public ::testing::TestWithParam<Variant> {};

TEST_P(MemoryOfOptions, Holds) {
  spec::GivenSettings given = Narrow(12);
  for (const auto& [key, value] : GetParam().given) given[key] = value;
  ExpectForecastHolds(GetParam().method, given, 1);
}

std::vector<Variant> Variants() {
  const auto word = [](const char* text) { return std::string(text); };
  return {
      {"prenorm", {{"qk_norm", word("on")}}, "QkNorm"},
      {"prenorm",
       {{"n_heads", int64_t{4}}, {"n_kv_heads", int64_t{2}}},
       "SharedHeads"},
      {"prenorm",
       {{"n_heads", int64_t{4}}, {"n_kv_heads", int64_t{1}}},
       "OneSharedHead"},
      {"prenorm", {{"tied_head", word("off")}}, "UntiedHead"},
      {"prenorm", {{"dropout", 0.1}}, "Dropout"},
      {"prenorm",
       {{"dropout", 0.1},
        {"context", int64_t{256}},
        {"depth", int64_t{4}},
        {"batch_sequences", int64_t{1}}},
       "LongDropout"},
      {"prenorm", {{"precision", word("bf16")}}, "BFloat16"},
      {"wav", {{"precision", word("bf16")}}, "BFloat16Wav"},
      {"prenorm", {{"d_ff", int64_t{16}}}, "NarrowFeedForward"},
      {"prenorm",
       {{"batch_sequences", int64_t{12}}, {"micro_batch", int64_t{2}}},
       "MicroBatches"},
      {"prenorm",
       {{"batch_sequences", int64_t{1}}, {"eval_windows", int64_t{64}}},
       "LargeEvaluation"},
      {"block_attnres",
       {{"batch_sequences", int64_t{1}}, {"eval_windows", int64_t{8}}},
       "LargeProbe"},
      {"block_attnres", {{"block_sublayers", int64_t{1}}}, "EveryUpdate"},
      {"block_attnres", {{"block_sublayers", int64_t{24}}}, "OneBlock"},
      {"wav", {{"block_sublayers", int64_t{10}}}, "ShortLastBlock"},
      {"wav", {{"details", word("off")}}, "NoDetails"},
      {"rezero", {{"norm", word("off")}}, "NoNorms"},
      {"attnres", {{"sources", word("states")}}, "States"},
      {"attnres", {{"window", int64_t{3}}}, "Window"},
      {"attnres", {{"static_mixing", word("on")}}, "StaticMixing"},
      {"wav", {{"window", int64_t{2}}}, "WavWindow"},
      {"mhar", {{"base", word("block")}}, "HeadsOverBlocks"},
      {"haares", {{"block_sublayers", int64_t{3}}}, "OddBlocks"},
      {"delta_attnres", {{"gate", word("scalar")}}, "Gate"},
      {"delta_attnres", {{"null_source", word("vector")}}, "NullVector"},
      {"delta_attnres", {{"null_source", word("logit")}}, "NullLogit"},
      {"delta_attnres", {{"sources", word("states")}}, "DeltaOfStates"},
      {"delta_attnres", {{"window", int64_t{3}}}, "DeltaWindow"},
      {"delta_block", {{"block_sublayers", int64_t{5}}}, "DeltaOddBlocks"},
      {"delta_block", {{"window", int64_t{2}}}, "DeltaBlockWindow"},
      {"denseformer", {{"dilation", int64_t{4}}}, "Dilation"},
      {"denseformer", {{"period", int64_t{5}}}, "Period"},
      {"denseformer",
       {{"dilation", int64_t{2}}, {"period", int64_t{3}}},
       "DilationAndPeriod"},
      {"hyper_connections", {{"dynamic", word("off")}}, "StaticConnections"},
      {"hyper_connections", {{"streams", int64_t{2}}}, "TwoStreams"},
      {"hyper_connections", {{"streams", int64_t{8}}}, "EightStreams"},
      {"mhc", {{"residual", word("permutations")}}, "Permutations"},
      {"mhc", {{"streams", int64_t{8}}}, "EightStochasticStreams"},
      {"prenorm", {{"value_residual", word("learned")}}, "LearnedValues"},
      {"prenorm", {{"value_residual", word("constant")}}, "ConstantValues"},
      {"deepnorm", {{"precision", word("bf16")}}, "BFloat16DeepNorm"},
      {"rezero", {{"per", word("layer")}}, "ScalePerLayer"},
      {"prenorm",
       {{"devices", int64_t{2}}, {"batch_sequences", int64_t{12}}},
       "TwoRanks"},
      {"block_attnres",
       {{"devices", int64_t{2}},
        {"batch_sequences", int64_t{2}},
        {"context", int64_t{8}},
        {"diagnostics", word("off")}},
       "TwoRanksThatAreMostlyParameters"},
      {"prenorm",
       {{"devices", int64_t{4}},
        {"batch_sequences", int64_t{16}},
        {"micro_batch", int64_t{2}}},
       "MicroBatchesOfFourRanks"},
  };
}

INSTANTIATE_TEST_SUITE_P(Memory, MemoryOfOptions,
                         ::testing::ValuesIn(Variants()),
                         [](const auto& info) { return info.param.name; });

TEST(ForecastMemory, HoldsForALargeVocabulary) {
  spec::GivenSettings given = Narrow(4);
  ExpectForecastHolds("prenorm", given, 1, 1000);
  ExpectForecastHolds("prenorm", given, 1, 3000);
}

TEST(ForecastMemory, CoversTheParametersWithGradientsAndMoments) {
  const spec::Settings settings = CellSettings("prenorm", Narrow(12));
  const auto forecast = spec::ForecastMemory(settings, kVocabulary, 3);
  EXPECT_EQ(forecast.parameters,
            3 * 4 * 4 * (12 * (16 * 32 * 32 + 64) + 32 + 27 * 32));
  EXPECT_GT(forecast.peak, forecast.parameters);
}

}  // namespace
}  // namespace leadline::trainer
