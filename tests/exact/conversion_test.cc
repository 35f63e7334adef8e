// X18: a prenorm checkpoint that is converted computes the same logits.

#include "model/spec/conversion.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "tests/exact/training_world.h"
#include "tests/exact/world.h"
#include "worker/checkpoint/checkpoint.h"
#include "worker/checkpoint/convert.h"
#include "worker/trainer/checkpoint_state.h"

namespace leadline::exact {
namespace {

namespace fs = std::filesystem;

using model::Decoder;
using spec::Value;

struct ConversionCase {
  std::string method;
  int64_t depth;
  int64_t replicas;
  int64_t block_sublayers;  // 0: the method has no blocks
};

std::string Name(const ConversionCase& c) {
  return c.method + "_L" + std::to_string(c.depth) + "_R" +
         std::to_string(c.replicas) + "_S" + std::to_string(c.block_sublayers);
}

void PrintTo(const ConversionCase& c, std::ostream* out) { *out << Name(c); }

std::vector<ConversionCase> ConversionCases() {
  std::vector<ConversionCase> cases;
  for (const std::string_view name : spec::ConversionTargets()) {
    const std::string method(name);
    const bool blocks =
        spec::BelongsTo(*spec::FindSetting("block_sublayers"), method);
    for (const int64_t depth : {2, 5, 12}) {
      for (const int64_t replicas : {1, 3}) {
        if (!blocks) cases.push_back({method, depth, replicas, 0});
        for (const int64_t s : {1, 3, 4}) {  // some divide 2L, some do not
          if (blocks) cases.push_back({method, depth, replicas, s});
        }
      }
    }
  }
  return cases;
}

class Converted : public testing::TestWithParam<ConversionCase> {
 protected:
  Converted() {
    std::string pattern = testing::TempDir() + "converted_XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~Converted() override { fs::remove_all(root_); }

  /// Relative change of the logits of a trained checkpoint.
  double Change(const char* eps_mode, double eps,
                const torch::TensorOptions& type) const {
    const ConversionCase& c = GetParam();
    const bool wide = type.dtype() == torch::kFloat64;
    const spec::Settings settings =
        Small("prenorm", c.depth,
              {{"norm_eps", eps},
               {"precision", std::string(wide ? "fp64" : "fp32")}});
    const std::vector<int64_t> seeds = SomeSeeds(c.replicas);
    const Decoder plain(settings, kVocabulary, seeds, type);
    Shake(plain, 0.02);  // as training would, away from the start
    const trainer::AdamW optimizer(plain.parameters_in_order(), settings);
    const fs::path folder = root_ / eps_mode / std::to_string(wide);
    trainer::WriteSnapshot(folder / "plain", ManifestOf(settings, seeds, 3),
                           trainer::TakeSnapshot(plain, optimizer));

    const checkpoint::Checkpoint from(folder / "plain");
    spec::GivenSettings options = {{"eps_mode", std::string(eps_mode)}};
    if (c.block_sublayers > 0) options["block_sublayers"] = c.block_sublayers;
    const spec::Resolution converted =
        spec::ConvertSettings(from.manifest().settings, c.method, options);
    EXPECT_TRUE(converted.errors.empty());
    checkpoint::Convert(from, converted.settings, folder / "routed");

    const checkpoint::Checkpoint to(folder / "routed");
    // Other seeds and a query of its own at the start: weights come from the
    // checkpoint alone.
    const Decoder routed(to.manifest().settings, kVocabulary, seeds, type);
    Shake(routed, 1);
    trainer::LoadWeights(to, seeds, routed);
    const Text text = RandomText(c.replicas);
    return LogitError(routed.Forward(text.tokens_RBT).detach(),
                      plain.Forward(text.tokens_RBT).detach());
  }

  fs::path root_;
};

TEST_P(Converted, X18KeepsItsLogitsForAnyEpsIfCompensated) {
  EXPECT_LE(Change("compensated", 1e-5, Doubles()), 1e-12);
}

TEST_P(Converted, X18KeepsItsLogitsAtTheDefaultEps) {
  const ConversionCase& c = GetParam();
  spec::GivenSettings options;
  if (c.block_sublayers > 0) options["block_sublayers"] = c.block_sublayers;
  const spec::Settings routed = Small(c.method, c.depth, options);
  // mhar has blocks on one of its bases alone.
  const int64_t sublayers =
      routed.Has("block_sublayers") ? routed.Integer("block_sublayers") : 1;
  const double most_sources = 1 + std::ceil(2.0 * static_cast<double>(c.depth) /
                                            static_cast<double>(sublayers));
  EXPECT_LE(Change("fixed", 1e-12, Doubles()),
            2 * 1e-12 * most_sources * most_sources / (0.02 * 0.02));
}

TEST_P(Converted, X18KeepsItsLogitsInFloat) {
  EXPECT_LE(Change("compensated", 1e-6, Floats()), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Targets, Converted,
                         testing::ValuesIn(ConversionCases()),
                         [](const auto& info) { return Name(info.param); });

/// Options under which a method has further parameters.
std::vector<spec::GivenSettings> Variants(const std::string& method) {
  std::vector<spec::GivenSettings> variants = {{}};
  const std::pair<const char*, const char*> options[] = {
      {"gate", "scalar"}, {"null_source", "logit"}, {"null_source", "vector"}};
  for (const auto& [key, word] : options) {
    const spec::SettingInfo* setting = spec::FindSetting(key);
    if (setting != nullptr && spec::BelongsTo(*setting, method)) {
      variants.push_back(
          {{key, std::string(word)}, {"eps_mode", std::string("fixed")}});
    }
  }
  return variants;
}

TEST(Conversion, X18AddsTheParametersThatTheModelHasAtItsStart) {
  for (const std::string_view target : spec::ConversionTargets()) {
    for (const auto& options : Variants(std::string(target))) {
      const spec::Resolution settings =
          spec::ConvertSettings(Small("prenorm", 5), target, options);
      ASSERT_TRUE(settings.errors.empty())
          << target << ": " << settings.errors.front().message;
      const Decoder decoder(settings.settings, kVocabulary, SomeSeeds(2),
                            Doubles());
      std::vector<spec::AddedParameter> added =
          spec::AddedParameters(settings.settings);
      for (const model::NamedParameter& p : decoder.parameters_in_order()) {
        if (!p.of_method) continue;
        const auto found =
            std::find_if(added.begin(), added.end(),
                         [&](const auto& a) { return a.name == p.name; });
        ASSERT_NE(found, added.end()) << target << ": " << p.name;
        EXPECT_EQ(p.tensor.sizes().slice(1), torch::IntArrayRef(found->sizes))
            << target << ": " << p.name;
        EXPECT_TRUE(p.tensor.eq(found->value).all().item<bool>()) << p.name;
        added.erase(found);
      }
      EXPECT_TRUE(added.empty()) << target << ": " << added.front().name;
    }
  }
}

}  // namespace
}  // namespace leadline::exact
