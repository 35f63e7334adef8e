#include "model/spec/method_table.h"
#include "model/spec/settings_groups.h"

namespace leadline::spec {

using enum ValueKind;

namespace {

std::vector<std::string_view> MethodNames() {
  std::vector<std::string_view> names;
  for (const MethodInfo& method : MethodTable()) names.push_back(method.name);
  return names;
}

}  // namespace

std::vector<SettingInfo> ModelSettings() {
  return {
      {.key = "method",
       .kind = kWord,
       .words = MethodNames(),
       .default_text = "required",
       .meaning = "rule for carrying values through depth"},
      {.key = "depth",
       .least = 1,
       .most = 256,
       .default_text = "12",
       .meaning = "transformer layers L; sublayers are 0..2L-1"},
      {.key = "d_model",
       .least = 2,
       .most = 16384,
       .default_text = "256",
       .meaning = "width D; a multiple of n_heads"},
      {.key = "n_heads",
       .least = 1,
       .most = 1024,
       .default_text = "max(1, d_model / 64)",
       .meaning = "attention heads; the head width d_model / n_heads is even"},
      {.key = "n_kv_heads",
       .least = 1,
       .most = 1024,
       .default_text = "n_heads",
       .meaning = "key and value heads; divides n_heads"},
      {.key = "d_ff",
       .least = 1,
       .most = 131072,
       .default_text = "4 * d_model",
       .meaning = "hidden width of the SwiGLU MLP"},
      {.key = "context",
       .least = 2,
       .most = 65536,
       .default_text = "256",
       .meaning = "characters a sequence T"},
      {.key = "norm_eps",
       .kind = kNumber,
       .least = 0,
       .most = 1,
       .least_excluded = true,
       .default_text = "1e-12",
       .meaning = "eps of every RMSNorm and every router key"},
      {.key = "eps_mode",
       .kind = kWord,
       .words = {"fixed", "compensated"},
       .default_text = "fixed",
       .meaning = "compensated: the norm after a router over J sources uses "
                  "eps / J^2, so that zero queries equal prenorm for any eps; "
                  "likewise after a sum of streams"},
      {.key = "rope_theta",
       .kind = kNumber,
       .least = 1,
       .most = 1e12,
       .default_text = "10000.0",
       .meaning = "base of the rotary angles"},
      {.key = "qk_norm",
       .kind = kWord,
       .words = {"on", "off"},
       .default_text = "off",
       .meaning = "RMSNorm without gain on queries and keys, per head"},
      {.key = "tied_head",
       .kind = kWord,
       .words = {"on", "off"},
       .default_text = "on",
       .meaning = "the head is the transposed embedding; off: a matrix of "
                  "its own"},
      {.key = "init_std",
       .kind = kNumber,
       .least = 0,
       .most = 10,
       .least_excluded = true,
       .default_text = "0.02",
       .meaning = "standard deviation of all matrices and the embedding"},
      {.key = "residual_init",
       .kind = kWord,
       .words = {"scaled", "plain"},
       .default_text = "scaled",
       .meaning = "scaled: wo and wd start at init_std / sqrt(2L); plain: at "
                  "init_std, and so always in deepnorm"},
      {.key = "dropout",
       .kind = kNumber,
       .least = 0,
       .most = 0.5,
       .default_text = "0.0",
       .meaning = "on embedding, attention weights and updates"},
      {.key = "value_residual",
       .kind = kWord,
       .words = {"off", "constant", "learned"},
       .default_text = "off",
       .since = 2,
       .neutral = Value("off"),
       .meaning = "attention layers after the first mix the values of the "
                  "first with their own, c1 v_0 + c2 v_i (arXiv:2410.17897): "
                  "constant: halves; learned: c1 and c2 of each layer"},
  };
}

}  // namespace leadline::spec
