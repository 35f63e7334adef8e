// The tensors of a training, to and from a checkpoint.

#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "model/decoder.h"
#include "worker/checkpoint/checkpoint.h"
#include "worker/checkpoint/draft.h"
#include "worker/trainer/adam_w.h"

namespace leadline::trainer {

/// Writes parameters and moments, [R, ...] under their names, beside a manifest
/// that says the rest; its `files` are filled in. Throws std::system_error.
checkpoint::Draft::Done SaveCheckpoint(const std::filesystem::path& folder,
                                       checkpoint::Manifest manifest,
                                       const model::Decoder& decoder,
                                       const AdamW& optimizer);

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
