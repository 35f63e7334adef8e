// A model as a checkpoint holds it.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/decoder.h"
#include "worker/checkpoint/checkpoint.h"

namespace leadline::inference {

/// Its parameters, on the CPU, for all replicas together or for one.
struct LoadedModel {
  checkpoint::Manifest manifest;
  std::vector<int64_t> seeds;  // of the decoder's replicas
  model::Decoder decoder;
};

/// Every byte is checked against the manifest's hashes. Throws BadCheckpoint
/// and std::system_error.
LoadedModel LoadAll(const std::filesystem::path& checkpoint);
LoadedModel LoadReplica(const std::filesystem::path& checkpoint, int64_t seed);

/// The seed that is meant where none is given: that of the only replica. Throws
/// BadCheckpoint, with the seeds there are, where there are several.
int64_t OnlySeed(const checkpoint::Manifest& manifest);

}  // namespace leadline::inference
