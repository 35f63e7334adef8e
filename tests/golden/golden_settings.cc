#include "tests/golden/golden_settings.h"

#include "model/methods/registry.h"

namespace leadline::golden {
namespace {

using spec::Value;

/// What applies where a file is silent: options whose value it does not matter
/// to, since parameters are given.
spec::GivenSettings Neutral(const nlohmann::json& config) {
  return {
      {"context", Value(std::max<int64_t>(config.value("T", 1), 1))},
      {"d_ff", Value(int64_t{1})},
      {"n_heads", Value(int64_t{1})},
      {"n_kv_heads", Value(int64_t{1})},
      {"dropout", Value(0.0)},
      {"precision", Value("fp64")},
      {"eps_mode", Value("fixed")},
      {"qk_norm", Value("off")},
      {"value_residual", Value("off")},
      {"tied_head", Value("on")},
      {"rope_theta", Value(10000.0)},
      {"freeze_base", Value("off")},
      {"init_std", Value(0.02)},
      {"residual_init", Value("scaled")},
      {"router_init_std", Value(0.0)},
      {"key_norm", Value("on")},
      {"router_weight_decay", Value("off")},
      {"static_mixing", Value("off")},
      {"window", Value("off")},
      {"sources", Value("updates")},
      {"base", Value("full")},
      {"router_heads", Value(int64_t{1})},
      {"per", Value("sublayer")},
      {"norm", Value("on")},
      {"init", Value(1e-4)},
      {"null_source", Value("off")},
      {"null_eps", Value(1e-4)},
      {"null_lr_mult", Value(1.0)},
      {"gate", Value("off")},
      {"details", Value("on")},
      {"detail_bias", Value(-2.0)},
      {"detail_bias_mode", Value("per_router")},
      {"rho", Value(4.0)},
  };
}

bool IsSetting(const std::string& key) {
  static const std::vector<std::string> kOthers = {
      "R", "B", "T", "vocab", "seeds", "training"};
  return std::find(kOthers.begin(), kOthers.end(), key) == kOthers.end();
}

}  // namespace

spec::Settings SettingsOf(const nlohmann::json& config) {
  const auto method = config.at("method").get<std::string>();
  if (!model::HasMethod(method)) {
    throw NotThere("method " + method + " is not there yet");
  }
  spec::GivenSettings given = Neutral(config);
  for (const auto& [key, value] : config.items()) {
    if (!IsSetting(key)) continue;
    const std::string name = key == "layers" ? "depth" : key;
    if (value.is_number_integer()) {
      given[name] = value.get<int64_t>();
    } else if (value.is_number()) {
      given[name] = value.get<double>();
    } else {
      given[name] = value.get<std::string>();
    }
  }
  return spec::Settings(std::move(given));
}

std::vector<int64_t> SeedsOf(const GoldenFile& file) {
  std::vector<int64_t> seeds;
  for (const nlohmann::json& seed : file.config().at("seeds")) {
    seeds.push_back(static_cast<int64_t>(std::stoull(seed.get<std::string>())));
  }
  return seeds;
}

}  // namespace leadline::golden
