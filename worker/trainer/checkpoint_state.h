// The tensors of a training, to and from a checkpoint.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "model/decoder.h"
#include "worker/checkpoint/checkpoint.h"
#include "worker/checkpoint/draft.h"
#include "worker/trainer/adam_w.h"

namespace leadline::trainer {

/// Tensors by name, [R, ...].
using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

/// A copy of what a training has learnt, on the CPU.
struct Snapshot {
  NamedTensors parameters;
  NamedTensors moments;  // first.NAME and second.NAME
};

Snapshot TakeSnapshot(const model::Decoder& decoder, const AdamW& optimizer);

/// Writes it beside a manifest that says the rest; its `files` are filled in.
/// Makes no tensor. Throws std::system_error.
checkpoint::Draft::Done WriteSnapshot(const std::filesystem::path& folder,
                                      checkpoint::Manifest manifest,
                                      const Snapshot& snapshot);

/// Takes over parameters and moments bit for bit. Throws BadCheckpoint unless
/// the checkpoint holds exactly those, of the same types and shapes; then
/// neither model nor optimiser is to be used.
void LoadState(const checkpoint::Checkpoint& from,
               const model::Decoder& decoder, const AdamW& optimizer);

/// Takes over parameters alone, converted to the type of the model: those of
/// the one replica for all, of several each seed its own. Throws BadCheckpoint
/// likewise, and if a seed is not there.
void LoadWeights(const checkpoint::Checkpoint& from,
                 const std::vector<int64_t>& seeds,
                 const model::Decoder& decoder);

}  // namespace leadline::trainer
