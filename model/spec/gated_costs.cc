// Costs of methods that scale each update before the plain sum.

#include "model/spec/block_count.h"
#include "model/spec/method_costs.h"

namespace leadline::spec {

MethodCost PreNormCost(const Settings&) { return {}; }

MethodCost ReZeroCost(const Settings& settings) {
  const int64_t depth = settings.depth();
  const int64_t scales = settings.Word("per") == "layer" ? depth : 2 * depth;
  const int64_t gains =
      settings.IsOn("norm") ? 0 : 2 * depth * settings.Integer("d_model");
  return {.parameters = scales - gains};
}

MethodCost LayerScaleCost(const Settings& settings) {
  return {.parameters = 2 * settings.depth() * settings.Integer("d_model")};
}

MethodCost BlockLayerScaleCost(const Settings& settings) {
  const int64_t blocks =
      BlocksBegun(2 * settings.depth(), settings.Integer("block_sublayers"));
  return {.parameters = blocks * settings.Integer("d_model")};
}

}  // namespace leadline::spec
