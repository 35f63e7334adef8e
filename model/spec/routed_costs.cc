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
MethodCost BlockCost(const Settings& settings, int64_t details_a_block) {
  const int64_t length = settings.Integer("block_sublayers");
  const int64_t sublayers = 2 * settings.depth();
  MethodCost cost;
  cost.parameters = 2 * (sublayers + 1) * settings.Integer("d_model");
  cost.sources = 1 + sublayers * (1 + details_a_block);
  cost.sum_of_sources = 1 + BlocksBegun(sublayers, length);
  for (int64_t l = 0; l < sublayers; ++l) {
    cost.sum_of_sources += 1 + (1 + details_a_block) * BlocksBegun(l, length);
  }
  return cost;
}

}  // namespace

MethodCost BlockAttnResCost(const Settings& settings) {
  return BlockCost(settings, 0);
}

MethodCost WavCost(const Settings& settings) {
  if (!HasDetails(settings)) return BlockCost(settings, 0);
  MethodCost cost = BlockCost(settings, 2);
  cost.parameters += CountBetas(settings, 2);
  return cost;
}

}  // namespace leadline::spec
