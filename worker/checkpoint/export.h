// One replica's weights for other programs.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "worker/checkpoint/checkpoint.h"

namespace leadline::checkpoint {

inline constexpr std::string_view kModelFile = "model.safetensors";
inline constexpr std::string_view kConfigFile = "config.json";

/// Writes a folder of two files: the parameters of one replica without the
/// replicas' axis, and a configuration that says what they belong to: settings,
/// symbols, seed, step. Returns the bytes of both. Throws BadCheckpoint and
/// std::system_error.
int64_t Export(const Checkpoint& from, int64_t replica,
               const std::filesystem::path& to);

/// Position of that seed among the replicas. Throws BadCheckpoint if it is not
/// there.
int64_t ReplicaOf(const Checkpoint& from, int64_t seed);

}  // namespace leadline::checkpoint
