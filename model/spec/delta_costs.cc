// Costs of methods whose routers add to the stream.

#include <algorithm>

#include "model/spec/block_count.h"
#include "model/spec/method_costs.h"

namespace leadline::spec {
namespace {

int64_t NullParameters(const Settings& settings) {
  const std::string& kind = settings.Word("null_source");
  if (kind == "off") return 0;
  return 2 * settings.depth() *
         (kind == "vector" ? settings.Integer("d_model") : 1);
}

int64_t Window(const Settings& settings) {
  return static_cast<int64_t>(
      settings.NumberUnlessWord("window").value_or(2 * settings.depth()));
}

/// A router a sublayer, of which the first does not route. `sources_of`(l) is
/// the number of sources of router l, `sources` that of distinct ones.
template <typename SourcesOf>
MethodCost DeltaCost(const Settings& settings, int64_t sources,
                     const SourcesOf& sources_of) {
  const int64_t sublayers = 2 * settings.depth();
  const int64_t width = settings.Integer("d_model");
  // A zero null source has no value to read.
  const int64_t nulls = settings.Word("null_source") == "vector" ? 1 : 0;
  MethodCost cost;
  cost.sources = sources;
  for (int64_t l = 1; l < sublayers; ++l) {
    cost.sum_of_sources += sources_of(l) + nulls;
  }
  cost.parameters = 2 * sublayers * width;
  if (settings.IsOn("static_mixing")) {  // logits are parameters, not products
    cost.parameters = cost.sum_of_sources;
    cost.other_flops_per_token =
        -2.0 * static_cast<double>(width * cost.sum_of_sources);
  }
  if (settings.Word("gate") == "scalar") cost.parameters += sublayers;
  cost.parameters += NullParameters(settings);
  return cost;
}

}  // namespace

MethodCost DeltaAttnResCost(const Settings& settings) {
  const int64_t window = Window(settings);
  return DeltaCost(settings, 2 * settings.depth(), [window](int64_t l) {
    return 1 + BlocksRead(l, 1, window);
  });
}

MethodCost DeltaBlockCost(const Settings& settings) {
  const int64_t window = Window(settings);
  const int64_t length = settings.Integer("block_sublayers");
  return DeltaCost(settings, 2 * settings.depth(), [=](int64_t l) {
    return 1 + BlocksRead(l, length, window);
  });
}

MethodCost DeltaBlockNoPartialCost(const Settings& settings) {
  const int64_t window = Window(settings);
  const int64_t length = settings.Integer("block_sublayers");
  return DeltaCost(settings, 1 + (2 * settings.depth() - 1) / length,
                   [=](int64_t l) { return 1 + std::min(l / length, window); });
}

MethodCost DeltaBlockRepoCost(const Settings& settings) {
  const int64_t window = Window(settings);
  const int64_t length = settings.Integer("block_sublayers");
  // A source is there from the second sublayer on of the block that begins
  // with it.
  return DeltaCost(
      settings, BlocksBegun(2 * settings.depth(), length),
      [=](int64_t l) { return 1 + std::min((l - 1) / length, window); });
}

}  // namespace leadline::spec
