// Checkpoints of several replicas taken apart and put together.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "worker/checkpoint/checkpoint.h"

namespace leadline::checkpoint {

/// Writes the checkpoint of one replica, which goes on alone. Returns its hash.
/// Throws BadCheckpoint and std::system_error.
std::string SplitOff(const Checkpoint& from, int64_t replica,
                     const std::filesystem::path& to);

/// Writes one checkpoint of all replicas of `parts`, in their order. Throws
/// BadCheckpoint if they are not of one cell and step, or share a seed.
std::string Join(const std::vector<const Checkpoint*>& parts,
                 const std::filesystem::path& to);

}  // namespace leadline::checkpoint
