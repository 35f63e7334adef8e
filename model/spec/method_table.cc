#include "model/spec/method_table.h"

namespace leadline::spec {
namespace {

constexpr MethodInfo kMethods[] = {
    {.name = "prenorm",
     .summary = "plain residual stream, the baseline",
     .formula = "h = e\n"
                "for l: x = h; u = f_l(x); h = h + u\n"
                "out = h",
     .reference = "2002.04745",
     .added_parameters = "0",
     .equals_prenorm_at_start = "yes",
     .cost = &PreNormCost,
     .memory = &PreNormMemory},
    {.name = "rezero",
     .summary = "each update is scaled by a learnt number that starts at 0",
     .formula = "h = h + alpha_l * u_l",
     .reference = "2003.04887",
     .added_parameters = "2L",
     .equals_prenorm_at_start = "no (constant in depth)",
     .cost = &ReZeroCost,
     .memory = &ReZeroMemory},
    {.name = "layerscale",
     .summary = "each update is scaled by a learnt vector that starts small",
     .formula = "h = h + lambda_l * u_l    (lambda_l a vector of width D)",
     .reference = "2103.17239",
     .added_parameters = "2LD",
     .equals_prenorm_at_start = "no, unless init is 1",
     .cost = &LayerScaleCost,
     .memory = &ScaledMemory},
    {.name = "block_layerscale",
     .summary = "layerscale with one vector a block of sublayers",
     .formula = "h = h + lambda_b * u_l    (b = floor(l / S), lambda_b a "
                "vector of width D)",
     .reference = "2606.06564 v1",
     .added_parameters = "ND, N = ceil(2L / S)",
     .equals_prenorm_at_start = "no, unless init is 1",
     .cost = &BlockLayerScaleCost,
     .memory = &ScaledMemory,
     .caveat = "our reading: the paper names this baseline and does not define "
               "it"},
    {.name = "block_attnres",
     .summary = "each sublayer reads a softmax mixture of block sums",
     .formula = "blocks = [e]; part = none\n"
                "for l: x = route(blocks + [part if any]); u = f_l(x)\n"
                "       part = part + u; after S sublayers it joins blocks\n"
                "out = route(blocks + [part if any])",
     .reference = "2603.15031",
     .added_parameters = "4LD + 2D",
     .equals_prenorm_at_start = "yes",
     .cost = &BlockAttnResCost,
     .memory = &BlockAttnResMemory},
    {.name = "wav",
     .summary = "block_attnres with two signed detail sums a block, phase and "
                "split, as further sources",
     .formula = "as block_attnres; each block offers C = sum u,\n"
                "Dphi = sum ph u (attention +, MLP -) and\n"
                "Dsig = sum sp u (first half +, second half -);\n"
                "details have a logit bias beta and are scaled by\n"
                "min(rms(C) / rms(D), rho); the readout sees no details",
     .reference = "2606.06564 v1",
     .added_parameters = "4LD + 2D + 4L",
     .equals_prenorm_at_start = "no (detail mass 0.16)",
     .cost = &WavCost,
     .memory = &WavMemory},
};

}  // namespace

std::span<const MethodInfo> MethodTable() { return kMethods; }

const MethodInfo* FindMethod(std::string_view name) {
  for (const MethodInfo& method : kMethods) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

std::vector<const SettingInfo*> OptionsOf(std::string_view method) {
  std::vector<const SettingInfo*> options;
  for (const SettingInfo& setting : SettingsTable()) {
    if (!setting.methods.empty() && BelongsTo(setting, method)) {
      options.push_back(&setting);
    }
  }
  return options;
}

}  // namespace leadline::spec
