// How much disk the checkpoints of a cell take, before anything runs.

#pragma once

#include <cstdint>
#include <optional>

#include "model/spec/settings.h"

namespace leadline::spec {

/// Bytes that the checkpoints of a cohort of `replicas` take at the worst
/// moment: all that are kept, and the one that is being written. Without a
/// vocabulary the embedding and the head are left out. 0 without checkpoints.
int64_t ForecastCheckpointBytes(const Settings& settings,
                                std::optional<int64_t> vocabulary,
                                int64_t replicas);

}  // namespace leadline::spec
