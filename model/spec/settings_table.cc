#include <algorithm>
#include <unordered_map>

#include "model/spec/method_table.h"
#include "model/spec/settings.h"

namespace leadline::spec {
namespace {

using enum SettingGroup;
using enum ValueKind;

std::vector<std::string_view> MethodNames() {
  std::vector<std::string_view> names;
  for (const MethodInfo& method : MethodTable()) names.push_back(method.name);
  return names;
}

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
                  "eps / J^2, so that zero queries equal prenorm for any eps"},
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
       .meaning = "scaled: wo and wd start at init_std / sqrt(2L)"},
      {.key = "dropout",
       .kind = kNumber,
       .least = 0,
       .most = 0.5,
       .default_text = "0.0",
       .meaning = "on embedding, attention weights and updates"},
  };
}

std::vector<SettingInfo> MethodSettings() {
  const std::vector<std::string_view> blocks = {"block_attnres", "wav"};
  return {
      {.key = "per",
       .group = kMethod,
       .kind = kWord,
       .words = {"sublayer", "layer"},
       .default_text = "sublayer",
       .methods = {"rezero"},
       .meaning = "one alpha a sublayer, or one a layer"},
      {.key = "norm",
       .group = kMethod,
       .kind = kWord,
       .words = {"on", "off"},
       .default_text = "on",
       .methods = {"rezero"},
       .meaning = "off: sublayers read the stream itself, without a norm"},
      {.key = "init",
       .group = kMethod,
       .kind = kNumber,
       .least = -10,
       .most = 10,
       .default_text = "1e-04",
       .methods = {"layerscale"},
       .meaning = "initial value of lambda"},
      {.key = "blocks",
       .group = kMethod,
       .least = 1,
       .most = 256,
       .default_text = "max(1, min(6, depth / 2))",
       .methods = blocks,
       .meaning = "wanted number of blocks of whole layers: gives "
                  "block_sublayers = 2 * ceil(depth / blocks)"},
      {.key = "block_sublayers",
       .group = kMethod,
       .least = 1,
       .most = 512,
       .default_text = "2 * ceil(depth / blocks)",
       .methods = blocks,
       .meaning = "length S of a block in sublayers, at most 2 * depth; wav: "
                  "even and at least 4; not beside blocks"},
      {.key = "router_init_std",
       .group = kMethod,
       .kind = kNumber,
       .least = 0,
       .most = 1,
       .default_text = "0.0",
       .methods = blocks,
       .meaning = "standard deviation of the queries at the start"},
      {.key = "router_weight_decay",
       .group = kMethod,
       .kind = kWord,
       .words = {"on", "off"},
       .default_text = "off",
       .methods = blocks,
       .meaning = "on: weight_decay applies to queries and key gains too"},
      {.key = "router_lr_mult",
       .group = kMethod,
       .kind = kNumber,
       .least = 0.1,
       .most = 100,
       .default_text = "1.0",
       .methods = {"rezero", "layerscale", "block_attnres", "wav"},
       .meaning = "the method's own parameters learn at lr times this"},
      {.key = "detail_bias",
       .group = kMethod,
       .kind = kNumber,
       .least = -1e6,
       .most = 4,
       .words = {"-inf"},
       .default_text = "-2.0",
       .methods = {"wav"},
       .meaning = "initial logit bias beta of the details; -inf leaves them "
                  "out of the sources"},
      {.key = "detail_bias_mode",
       .group = kMethod,
       .kind = kWord,
       .words = {"per_router", "shared", "fixed"},
       .default_text = "per_router",
       .methods = {"wav"},
       .meaning = "beta learnt per router, learnt once, or held"},
      {.key = "rho",
       .group = kMethod,
       .kind = kNumber,
       .least = 1,
       .most = 1e6,
       .default_text = "4.0",
       .methods = {"wav"},
       .meaning = "cap of the scale that matches a detail to its block"},
      {.key = "details",
       .group = kMethod,
       .kind = kWord,
       .words = {"on", "off"},
       .default_text = "on",
       .methods = {"wav"},
       .meaning = "off: block_attnres"},
  };
}

std::vector<SettingInfo> TrainingSettings() {
  return {
      {.key = "batch_sequences",
       .group = kTraining,
       .least = 1,
       .most = 65536,
       .default_text = "64",
       .meaning = "sequences a step and replica B"},
      {.key = "steps",
       .group = kTraining,
       .least = 1,
       .most = 100000000,
       .default_text = "5000",
       .meaning = "optimiser steps"},
      {.key = "lr",
       .group = kTraining,
       .kind = kNumber,
       .least = 0,
       .most = 10,
       .least_excluded = true,
       .default_text = "1e-3 - 2e-4 * log2(depth / 12), within 4e-4..1e-3",
       .meaning = "highest learning rate, reached after the warm-up"},
      {.key = "lr_min",
       .group = kTraining,
       .kind = kNumber,
       .least = 0,
       .most = 10,
       .default_text = "lr / 10",
       .meaning = "learning rate of the last step; at most lr"},
      {.key = "warmup",
       .group = kTraining,
       .kind = kNumber,
       .least = 0,
       .most = 1,
       .default_text = "0.02",
       .meaning = "share of the steps over which the rate rises: "
                  "ceil(warmup * steps) steps"},
      {.key = "beta1",
       .group = kTraining,
       .kind = kNumber,
       .least = 0,
       .most = 1,
       .most_excluded = true,
       .default_text = "0.9",
       .meaning = "AdamW: decay of the first moment"},
      {.key = "beta2",
       .group = kTraining,
       .kind = kNumber,
       .least = 0,
       .most = 1,
       .most_excluded = true,
       .default_text = "0.95",
       .meaning = "AdamW: decay of the second moment"},
      {.key = "adam_eps",
       .group = kTraining,
       .kind = kNumber,
       .least = 0,
       .most = 1,
       .least_excluded = true,
       .default_text = "1e-08",
       .meaning = "AdamW: added to the root of the second moment"},
      {.key = "weight_decay",
       .group = kTraining,
       .kind = kNumber,
       .least = 0,
       .most = 10,
       .default_text = "0.1",
       .meaning = "decoupled decay of the matrices (and an untied head)"},
      {.key = "decay_all",
       .group = kTraining,
       .kind = kWord,
       .words = {"on", "off"},
       .default_text = "off",
       .meaning = "on: weight_decay applies to every parameter"},
      {.key = "clip",
       .group = kTraining,
       .kind = kNumber,
       .least = 0,
       .most = 1e6,
       .least_excluded = true,
       .words = {"off"},
       .default_text = "1.0",
       .meaning = "largest gradient norm of a replica, all parameters "
                  "together"},
  };
}

std::vector<SettingInfo> EvaluationSettings() {
  return {
      {.key = "eval_every",
       .group = kEvaluation,
       .least = 1,
       .most = 100000000,
       .default_text = "250",
       .meaning = "steps between evaluations on the fixed windows"},
      {.key = "eval_windows",
       .group = kEvaluation,
       .least = 2,
       .most = 65536,
       .default_text = "512",
       .meaning = "fixed windows of an evaluation P"},
      {.key = "eval_stride",
       .group = kEvaluation,
       .least = 1,
       .most = 65536,
       .default_text = "context",
       .meaning = "distance of windows in the full evaluation; below context "
                  "they overlap, and each scores its last eval_stride "
                  "characters"},
  };
}

std::vector<SettingInfo> RunningSettings() {
  return {
      {.key = "precision",
       .group = kRunning,
       .kind = kWord,
       .words = {"fp32", "bf16", "fp64"},
       .default_text = "fp32",
       .meaning = "number format; bf16 keeps master weights in fp32"},
      {.key = "data_seed",
       .group = kRunning,
       .least = 0,
       .most = 0x1p63,
       .words = {"seed"},
       .default_text = "seed",
       .meaning = "seed of the data order; by default the trial's own seed"},
      {.key = "divergence_loss",
       .group = kRunning,
       .kind = kNumber,
       .least = 0,
       .most = 1e6,
       .least_excluded = true,
       .words = {"off"},
       .default_text = "off",
       .meaning = "a training loss above this ends the trial as diverged"},
      {.key = "log_every",
       .group = kRunning,
       .least = 1,
       .most = 1000000,
       .default_text = "10",
       .identity = false,
       .meaning = "steps over which logged means are taken"},
      {.key = "micro_batch",
       .group = kRunning,
       .least = 1,
       .most = 65536,
       .words = {"auto"},
       .default_text = "auto",
       .identity = false,
       .meaning = "sequences of a replica that are computed at once; divides "
                  "batch_sequences"},
      {.key = "devices",
       .group = kRunning,
       .least = 1,
       .most = 64,
       .default_text = "1",
       .identity = false,
       .meaning = "ranks of an attempt, each on a device of its own; for now "
                  "one"},
      {.key = "threads",
       .group = kRunning,
       .least = 1,
       .most = 256,
       .default_text = "1",
       .identity = false,
       .meaning = "CPU threads of a rank"},
      {.key = "cohort",
       .group = kRunning,
       .least = 1,
       .most = 64,
       .words = {"auto"},
       .default_text = "auto",
       .identity = false,
       .meaning = "seeds trained together as one program; auto: all seeds of "
                  "the cell, at most 8"},
      {.key = "checkpoint_every",
       .group = kRunning,
       .kind = kWord,
       .words = {"off"},
       .default_text = "off",
       .identity = false,
       .meaning = "steps between checkpoints; for now an attempt that is lost "
                  "starts again from step 0"},
      {.key = "diagnostics",
       .group = kRunning,
       .kind = kWord,
       .words = {"on", "off"},
       .default_text = "on",
       .identity = false,
       .meaning = "routing and layer statistics at each evaluation"},
  };
}

std::vector<SettingInfo> AllSettings() {
  std::vector<SettingInfo> all;
  for (const auto& part :
       {ModelSettings(), MethodSettings(), TrainingSettings(),
        EvaluationSettings(), RunningSettings()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

std::span<const SettingInfo> SettingsTable() {
  static const std::vector<SettingInfo> table = AllSettings();
  return table;
}

const SettingInfo* FindSetting(std::string_view key) {
  static const auto by_key = [] {
    std::unordered_map<std::string_view, const SettingInfo*> map;
    for (const SettingInfo& setting : SettingsTable()) {
      map.emplace(setting.key, &setting);
    }
    return map;
  }();
  const auto found = by_key.find(key);
  return found == by_key.end() ? nullptr : found->second;
}

bool BelongsTo(const SettingInfo& setting, std::string_view method) {
  return setting.methods.empty() ||
         std::ranges::find(setting.methods, method) != setting.methods.end();
}

}  // namespace leadline::spec
