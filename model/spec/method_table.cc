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
    {.name = "attnres",
     .summary = "each sublayer reads a softmax mixture of all updates so far",
     .formula = "src = [e]\n"
                "for l: x = route(src); u = f_l(x); src = src + [u]\n"
                "out = route(src)\n"
                "route(v_0..): sum_j a_j v_j, a = softmax_j(<w g, v_j> / "
                "rms(v_j))",
     .reference = "2603.15031",
     .added_parameters = "4LD + 2D",
     .equals_prenorm_at_start = "yes",
     .cost = &AttnResCost,
     .memory = &AttnResMemory,
     .conversion = Conversion::kReplacing},
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
     .memory = &BlockAttnResMemory,
     .conversion = Conversion::kReplacing},
    {.name = "mhar",
     .summary = "attnres or block_attnres whose routers have several heads",
     .formula = "as attnres (base = full) or block_attnres (base = block);\n"
                "in slice h of the width, of G: sum_j a_jh v_j[h],\n"
                "a_h = softmax_j(<(w g)[h], v_j[h]> / rms(v_j)), the rms over "
                "the full width",
     .reference = "2607.27230",
     .added_parameters = "4LD + 2D",
     .equals_prenorm_at_start = "yes",
     .cost = &MharCost,
     .memory = &MharMemory,
     .conversion = Conversion::kReplacing},
    {.name = "delta_attnres",
     .summary = "the plain stream plus a softmax mixture of all updates",
     .formula = "h = e; src = [e]\n"
                "for l: x = h + route(src), but x = h at l = 0; u = f_l(x)\n"
                "       h = h + u; u joins src\n"
                "out = h",
     .reference = "2605.18855",
     .added_parameters = "4LD; null_source adds 2L (logit) or 2LD (vector)",
     .equals_prenorm_at_start = "yes, unless sources is states",
     .cost = &DeltaAttnResCost,
     .memory = &DeltaAttnResMemory,
     .conversion = Conversion::kAdding},
    {.name = "delta_block",
     .summary = "the plain stream plus a softmax mixture of block sums",
     .formula = "h = e; src = [e]; part = none\n"
                "for l: x = h + route(src + [part if any]), but x = h at l = "
                "0\n"
                "       u = f_l(x); h = h + u\n"
                "       part = part + u; after S sublayers it joins src\n"
                "out = h",
     .reference = "2605.18855",
     .added_parameters = "4LD; null_source adds 2L (logit) or 2LD (vector)",
     .equals_prenorm_at_start = "yes",
     .cost = &DeltaBlockCost,
     .memory = &DeltaBlockMemory,
     .conversion = Conversion::kAdding},
    {.name = "delta_block_nopartial",
     .summary = "delta_block whose routers do not read the running block",
     .formula = "as delta_block with x = h + route(src)",
     .reference = "2605.18855",
     .added_parameters = "4LD; null_source adds 2L (logit) or 2LD (vector)",
     .equals_prenorm_at_start = "no",
     .cost = &DeltaBlockNoPartialCost,
     .memory = &DeltaBlockNoPartialMemory},
    {.name = "delta_block_repo",
     .summary = "what the released code of delta_block computes, for "
                "comparisons with its figures",
     .formula = "h = e; src = []\n"
                "for l: x = h + route(src) if src else h; u = f_l(x)\n"
                "       if l % S == 0: h - src[-1] joins src (h itself at l = "
                "0)\n"
                "       h = h + u\n"
                "out = h",
     .reference = "code of 2605.18855 (wdlctc/delta-attention-residuals-code)",
     .added_parameters = "4LD; null_source adds 2L (logit) or 2LD (vector)",
     .equals_prenorm_at_start = "no",
     .cost = &DeltaBlockRepoCost,
     .memory = &DeltaBlockRepoMemory},
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
    {.name = "haares",
     .summary = "block_attnres with one signed detail sum a block, split, as a "
                "further source",
     .formula = "as block_attnres; each block offers C = sum u and\n"
                "Dsig = sum sp u (first half +, second half -, 0 in the middle "
                "of an odd length);\n"
                "details have a logit bias beta and are scaled by\n"
                "min(rms(C) / rms(D), rho); the readout sees no details; a "
                "block of one has none",
     .reference = "2606.06564 v2",
     .added_parameters = "4LD + 2D + 2L",
     .equals_prenorm_at_start = "no (detail mass 0.09)",
     .cost = &HaaresCost,
     .memory = &HaaresMemory},
    {.name = "haares_dup",
     .summary = "control of haares: the detail is the block's sum again",
     .formula = "as haares with Dsig = C, which weighs like block_attnres with "
                "the bias\n"
                "ln(1 + exp(beta)) on all block sums",
     .reference = "2606.06564 v2",
     .added_parameters = "4LD + 2D + 2L",
     .equals_prenorm_at_start = "no (detail mass 0.09)",
     .cost = &HaaresDupCost,
     .memory = &HaaresDupMemory},
    {.name = "haares_random",
     .summary = "control of haares: the detail's signs are drawn once from the "
                "seed",
     .formula = "as haares with sp_i = as many +1 as -1 (and one 0 in an odd "
                "length), shuffled\n"
                "a block and a seed",
     .reference = "2606.06564 v2",
     .added_parameters = "4LD + 2D + 2L",
     .equals_prenorm_at_start = "no (detail mass 0.09)",
     .cost = &HaaresCost,
     .memory = &HaaresRandomMemory},
    {.name = "haares_fixedbias",
     .summary = "control of haares: the detail's bias is not learnt",
     .formula = "as haares with beta = detail_bias throughout",
     .reference = "2606.06564 v2",
     .added_parameters = "4LD + 2D",
     .equals_prenorm_at_start = "no (detail mass 0.09)",
     .cost = &HaaresFixedBiasCost,
     .memory = &HaaresMemory},
    {.name = "denseformer",
     .summary = "after each layer the stream becomes a learnt average of all "
                "layers' outputs",
     .formula = "X_0 = e; X_{i+1} = output of layer i\n"
                "after layer i: h = sum_{j=0..i+1} a_ij X_j, every k-th j "
                "back from i+1,\n"
                "in layers with (i + 1) % p = 0; a starts at (0, ..., 0, 1)",
     .reference = "2402.02622",
     .added_parameters = "L(L+3)/2 for k = p = 1",
     .equals_prenorm_at_start = "yes",
     .cost = &DenseFormerCost,
     .memory = &DenseFormerMemory},
    {.name = "hyper_connections",
     .summary = "M parallel streams, read and mixed by learnt coefficients of "
                "each token",
     .formula =
         "H_1..H_M = e; N = norm(H, g) per stream; T = tanh(N Wa)\n"
         "for l: pre = pre0 + sa T_0, A = A0 + sa T_1..M, post = b0 + sb "
         "tanh(N Wb)\n"
         "       x = sum_s pre_s H_s; u = f_l(x)\n"
         "       H_t = sum_s A_st H_s + post_t u\n"
         "out = sum_s H_s",
     .reference = "2409.19606",
     .added_parameters = "2L (M^2 + 2M + (M+3) D + 2); dynamic off: 2L (M^2 + "
                         "2M)",
     .equals_prenorm_at_start = "yes",
     .cost = &HyperConnectionsCost,
     .memory = &HyperConnectionsMemory},
    {.name = "mhc",
     .summary = "hyper-connections whose mixing matrix is doubly stochastic",
     .formula =
         "c = phi^T norm(H_1..H_M as one vector)\n"
         "pre = sigmoid(alpha_0 c + bpre); post = 2 sigmoid(alpha_1 c + "
         "bpost)\n"
         "A = Sinkhorn(exp(alpha_2 c + bres)), 20 rounds: rows (over t), then "
         "columns (over s)\n"
         "x, u, H_t and out as hyper_connections",
     .reference = "2512.24880 (permutations: 2601.05732)",
     .added_parameters = "2L (M D (M^2 + 2M) + M^2 + 2M + 3); permutations: "
                         "M! for M^2",
     .equals_prenorm_at_start = "yes",
     .cost = &MhcCost,
     .memory = &MhcMemory},
    {.name = "deepnorm",
     .summary = "post-norm with a weighted stream and smaller matrices at the "
                "start",
     .formula = "h = norm((2L)^(1/4) h + f_l(h)); no norm before sublayers or "
                "head\n"
                "wv, wo, wg, wd start divided by (8L)^(1/4)",
     .reference = "2203.00555",
     .added_parameters = "-D",
     .equals_prenorm_at_start = "no",
     .cost = &DeepNormCost,
     .memory = &DeepNormMemory},
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
