// Costs of methods whose routers replace the stream.

#include "model/spec/block_count.h"
#include "model/spec/method_costs.h"

namespace leadline::spec {
namespace {

bool HasDetails(const Settings& settings) {
  return settings.IsOn("details") &&
         settings.NumberUnlessWord("detail_bias").has_value();
}

int64_t CountBetas(const Settings& settings, int64_t details_a_block) {
  const std::string& mode = settings.Word("detail_bias_mode");
  if (mode == "shared") return details_a_block;
  return mode == "per_router" ? 2 * settings.depth() * details_a_block : 0;
}

/// A router a sublayer and one before the final norm; the last one reads no
/// details.
MethodCost BlockCost(const Settings& settings, int64_t length,
                     int64_t details_a_block) {
  const int64_t sublayers = 2 * settings.depth();
  const int64_t width = settings.Integer("d_model");
  const auto window = static_cast<int64_t>(
      settings.NumberUnlessWord("window").value_or(sublayers));
  MethodCost cost;
  cost.sources = 1 + sublayers * (1 + details_a_block);
  cost.sum_of_sources = 1 + BlocksRead(sublayers, length, window);
  for (int64_t l = 0; l < sublayers; ++l) {
    cost.sum_of_sources +=
        1 + (1 + details_a_block) * BlocksRead(l, length, window);
  }
  cost.parameters = 2 * (sublayers + 1) * width;
  if (settings.IsOn("static_mixing")) {  // logits are parameters, not products
    cost.parameters = cost.sum_of_sources;
    cost.other_flops_per_token =
        -2.0 * static_cast<double>(width * cost.sum_of_sources);
  }
  return cost;
}

MethodCost BlockCost(const Settings& settings, int64_t details_a_block) {
  return BlockCost(settings, settings.Integer("block_sublayers"),
                   details_a_block);
}

}  // namespace

MethodCost AttnResCost(const Settings& settings) {
  return BlockCost(settings, 1, 0);
}

MethodCost BlockAttnResCost(const Settings& settings) {
  return BlockCost(settings, 0);
}

MethodCost MharCost(const Settings& settings) {
  return settings.Word("base") == "block" ? BlockAttnResCost(settings)
                                          : AttnResCost(settings);
}

MethodCost WavCost(const Settings& settings) {
  if (!HasDetails(settings)) return BlockCost(settings, 0);
  MethodCost cost = BlockCost(settings, 2);
  cost.parameters += CountBetas(settings, 2);
  return cost;
}

MethodCost HaaresCost(const Settings& settings) {
  if (!HasDetails(settings)) return BlockCost(settings, 0);
  MethodCost cost = HaaresFixedBiasCost(settings);
  cost.parameters += CountBetas(settings, 1);
  return cost;
}

MethodCost HaaresDupCost(const Settings& settings) {
  MethodCost cost = HaaresCost(settings);
  cost.sources = 1 + 2 * settings.depth();  // a copy is its original
  return cost;
}

MethodCost HaaresFixedBiasCost(const Settings& settings) {
  return BlockCost(settings, HasDetails(settings) ? 1 : 0);
}

}  // namespace leadline::spec
