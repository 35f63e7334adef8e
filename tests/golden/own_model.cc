#include "tests/golden/own_model.h"

#include "common/random_stream.h"
#include "model/decoder.h"
#include "model/random_streams.h"
#include "tests/golden/golden_settings.h"
#include "tests/golden/kinds.h"
#include "tests/golden/model_numbers.h"

namespace leadline::golden {
namespace {

using nlohmann::json;
using torch::Tensor;

constexpr double kSpread = 0.3;  // far from the start: nothing is linear

json Config(const std::string& method, int64_t layers, int64_t replicas,
            const json& options) {
  json config = {{"method", method}, {"layers", layers}, {"R", replicas},
                 {"B", 2},           {"T", 4},           {"vocab", 5},
                 {"d_model", 8},     {"d_ff", 8},        {"n_heads", 2},
                 {"n_kv_heads", 2},  {"norm_eps", 1e-3}};
  if (!options.is_null()) config.update(options);
  return config;
}

/// Tokens below the vocabulary from stream `data/train/own`, [R, B, T + 1].
Tensor DrawTokens(const json& config) {
  const int64_t sequences = config.at("B").get<int64_t>();
  const int64_t tokens = config.at("T").get<int64_t>() + 1;
  const int64_t replicas = config.at("R").get<int64_t>();
  Tensor result = torch::empty({replicas, sequences * tokens}, torch::kInt64);
  for (int64_t r = 0; r < replicas; ++r) {
    const RandomStream stream(r + 1, "data/train/own");
    for (int64_t i = 0; i < sequences * tokens; ++i) {
      result[r][i] = static_cast<int64_t>(
          stream.Integer(i, config.at("vocab").get<uint64_t>()));
    }
  }
  return result.view({replicas, sequences, tokens});
}

}  // namespace

std::map<std::string, json> OwnConfigs() {
  return {
      {"prenorm_r2", Config("prenorm", 2, 2, {})},
      {"prenorm_options_r1",
       Config("prenorm", 2, 1,
              {{"n_kv_heads", 1}, {"qk_norm", "on"}, {"tied_head", "off"}})},
      {"prenorm_grouped_r1",
       Config("prenorm", 2, 1, {{"n_heads", 4}, {"n_kv_heads", 2}})},
      {"rezero_r2", Config("rezero", 2, 2, {})},
      {"rezero_nonorm_r1",
       Config("rezero", 2, 1, {{"norm", "off"}, {"per", "layer"}})},
      {"layerscale_r2", Config("layerscale", 2, 2, {})},
      {"block_layerscale_s3_r2",
       Config("block_layerscale", 2, 2, {{"block_sublayers", 3}})},
      {"block_attnres_s3_r2",
       Config("block_attnres", 2, 2, {{"block_sublayers", 3}})},
      {"block_attnres_compensated_r1",
       Config("block_attnres", 2, 1,
              {{"block_sublayers", 1}, {"eps_mode", "compensated"}})},
      {"attnres_r2", Config("attnres", 2, 2, {})},
      {"attnres_states_window2_r1",
       Config("attnres", 3, 1, {{"sources", "states"}, {"window", 2}})},
      {"attnres_static_r2", Config("attnres", 2, 2, {{"static_mixing", "on"}})},
      {"block_attnres_s2_window1_r2",
       Config("block_attnres", 4, 2, {{"block_sublayers", 2}, {"window", 1}})},
      {"mhar_full_g4_r2", Config("mhar", 2, 2, {{"router_heads", 4}})},
      {"mhar_block_s3_g2_r1",
       Config(
           "mhar", 2, 1,
           {{"base", "block"}, {"block_sublayers", 3}, {"router_heads", 2}})},
      {"wav_static_window1_r1",
       Config(
           "wav", 5, 1,
           {{"block_sublayers", 4}, {"static_mixing", "on"}, {"window", 1}})},
      // An eps that tells how it is scaled.
      {"wav_compensated_s4_r1", Config("wav", 4, 1,
                                       {{"block_sublayers", 4},
                                        {"eps_mode", "compensated"},
                                        {"norm_eps", 1e-2}})},
      {"haares_compensated_s4_r1", Config("haares", 4, 1,
                                          {{"block_sublayers", 4},
                                           {"eps_mode", "compensated"},
                                           {"norm_eps", 1e-2}})},
      {"delta_attnres_gate_r2",
       Config("delta_attnres", 2, 2, {{"gate", "scalar"}})},
      {"delta_attnres_states_r1",
       Config("delta_attnres", 2, 1, {{"sources", "states"}})},
      {"delta_block_s3_r2",
       Config("delta_block", 2, 2, {{"block_sublayers", 3}})},
      {"delta_block_compensated_r1",
       Config("delta_block", 2, 1,
              {{"block_sublayers", 2}, {"eps_mode", "compensated"}})},
      {"delta_block_nopartial_s2_r1",
       Config("delta_block_nopartial", 2, 1, {{"block_sublayers", 2}})},
      {"delta_block_repo_s2_r2",
       Config("delta_block_repo", 3, 2, {{"block_sublayers", 2}})},
      {"delta_attnres_null_logit_r1",
       Config("delta_attnres", 2, 1,
              {{"null_source", "logit"}, {"eps_mode", "compensated"}})},
      {"delta_block_repo_null_vector_r1",
       Config("delta_block_repo", 2, 1,
              {{"block_sublayers", 2}, {"null_source", "vector"}})},
      {"delta_block_s3_null_vector_r2",
       Config("delta_block", 2, 2,
              {{"block_sublayers", 3}, {"null_source", "vector"}})},
      {"haares_s3_tail1_r2", Config("haares", 2, 2, {{"block_sublayers", 3}})},
      {"haares_shared_rho1_r1", Config("haares", 2, 1,
                                       {{"block_sublayers", 4},
                                        {"detail_bias_mode", "shared"},
                                        {"rho", 1.0}})},
      {"haares_dup_s2_r1",
       Config("haares_dup", 2, 1, {{"block_sublayers", 2}})},
      {"haares_random_s3_r2",
       Config("haares_random", 3, 2, {{"block_sublayers", 3}})},
      {"haares_fixedbias_s4_r1",
       Config("haares_fixedbias", 2, 1, {{"block_sublayers", 4}})},
      {"wav_s4_tail2_r2", Config("wav", 3, 2, {{"block_sublayers", 4}})},
      {"wav_shared_rho1_r1", Config("wav", 2, 1,
                                    {{"block_sublayers", 4},
                                     {"detail_bias_mode", "shared"},
                                     {"rho", 1.0}})},
      {"denseformer_r2",
       Config("denseformer", 3, 2, {{"dilation", 1}, {"period", 1}})},
      {"denseformer_dilation2_period2_r1",
       Config("denseformer", 4, 1, {{"dilation", 2}, {"period", 2}})},
      {"hyper_connections_m3_r2",
       Config("hyper_connections", 2, 2, {{"streams", 3}, {"dynamic", "on"}})},
      {"hyper_connections_static_r1",
       Config("hyper_connections", 2, 1, {{"streams", 2}, {"dynamic", "off"}})},
      {"mhc_m3_r2",
       Config("mhc", 2, 2, {{"streams", 3}, {"residual", "sinkhorn"}})},
      {"mhc_permutations_m4_r1",
       Config("mhc", 2, 1, {{"streams", 4}, {"residual", "permutations"}})},
      {"deepnorm_r2", Config("deepnorm", 3, 2, {})},
      {"value_residual_learned_r2",
       Config("prenorm", 3, 2, {{"value_residual", "learned"}})},
      {"value_residual_constant_r1",
       Config("prenorm", 3, 1,
              {{"value_residual", "constant"}, {"n_kv_heads", 1}})},
  };
}

std::map<std::string, Tensor> OwnModelNumbers(const spec::Settings& settings,
                                              const json& config,
                                              torch::ScalarType type) {
  const int64_t replicas = config.at("R").get<int64_t>();
  std::vector<int64_t> seeds;
  for (int64_t r = 0; r < replicas; ++r) seeds.push_back(r + 1);
  model::Decoder decoder(settings, config.at("vocab").get<int64_t>(), seeds,
                         type);
  for (const model::NamedParameter& parameter : decoder.parameters_in_order()) {
    const Tensor noise =
        model::DrawNormal(seeds, "own/" + parameter.name,
                          parameter.tensor.sizes().slice(1), kSpread);
    decoder.SetParameter(parameter.name, parameter.tensor.detach() + noise);
  }
  const Tensor text = DrawTokens(config);
  const int64_t tokens = config.at("T").get<int64_t>();
  return ModelNumbers(decoder, text.narrow(2, 0, tokens),
                      text.narrow(2, 1, tokens));
}

void CheckOwnModel(const GoldenFile& file, torch::ScalarType type,
                   Tally& tally) {
  CompareModel(file, OwnModelNumbers(SettingsOf(file), file.config(), type),
               tally);
}

}  // namespace leadline::golden
