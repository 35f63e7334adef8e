#include "model/spec/settings_groups.h"

namespace leadline::spec {

using enum SettingGroup;
using enum ValueKind;

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
       .least = 1,
       .most = 100000000,
       .words = {"auto", "off", "end"},
       .default_text = "auto",
       .identity = false,
       .meaning = "steps between checkpoints, the last step included; end: "
                  "that one alone; auto: ten minutes apart, for an attempt "
                  "that is lost to go on from, and gone with the results. With "
                  "a number or auto one is written, too, where training is "
                  "stopped"},
      {.key = "checkpoint_keep",
       .group = kRunning,
       .least = 1,
       .most = 1000000,
       .default_text = "2",
       .since = 3,
       .neutral = Value(int64_t{2}),
       .identity = false,
       .meaning = "checkpoints kept of a cohort: the newest, and of each "
                  "replica the one with its lowest validation loss"},
      {.key = "init_from_path",
       .group = kRunning,
       .kind = kPath,
       .words = {"off"},
       .default_text = "off",
       .since = 2,
       .neutral = "off",
       .identity = false,
       .meaning = "where the checkpoint of init_from lies; found by init_from, "
                  "not to be given"},
      {.key = "diagnostics",
       .group = kRunning,
       .kind = kWord,
       .words = {"on", "off"},
       .default_text = "on",
       .identity = false,
       .meaning = "routing and layer statistics at each evaluation"},
  };
}

}  // namespace leadline::spec
