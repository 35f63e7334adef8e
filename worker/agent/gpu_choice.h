// Which of a machine's GPUs an agent offers: those that CUDA_VISIBLE_DEVICES
// leaves, and of them those that --devices names.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "worker/agent/device_prober.h"

namespace leadline::agent {

/// As CUDA reads it: null shows all, an empty text none, and the first entry
/// that is no index and no (beginning of a) UUID of this machine ends the list.
/// InvalidArgument if it names a GPU twice.
absl::StatusOr<std::vector<Gpu>> VisibleGpus(
    const std::vector<Gpu>& gpus, const std::optional<std::string>& visible);

/// `devices` is empty (all), "none", or a list of indices, counted among the
/// visible ones as a CUDA program counts them, and of UUIDs. InvalidArgument if
/// one is not there or named twice.
absl::StatusOr<std::vector<Gpu>> ChosenGpus(const std::vector<Gpu>& visible,
                                            const std::string& devices);

}  // namespace leadline::agent
