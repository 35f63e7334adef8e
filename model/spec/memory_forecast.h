// How much memory training a cell takes, before anything runs.

#pragma once

#include <cstdint>
#include <optional>

#include "model/spec/settings.h"

namespace leadline::spec {

/// Bytes of tensors alive at once in one rank of an attempt on a CPU, the one
/// that writes checkpoints. What the process holds beside tensors (the program,
/// its libraries, the text, free memory that the allocator keeps) is not in it.
struct MemoryForecast {
  int64_t parameters = 0;  // with their gradients and both moments
  int64_t peak = 0;        // all tensors, at the worst moment
  /// Of them those that lie on a device, where there is one: the copy that a
  /// checkpoint is written from lies in the machine's memory.
  int64_t device_peak = 0;
};

/// Of a cohort of `replicas`. Counted from what the layers and the method keep
/// for their backward passes, sublayer by sublayer. Without a vocabulary the
/// embedding, the head and the logits are left out.
MemoryForecast ForecastMemory(const Settings& settings,
                              std::optional<int64_t> vocabulary,
                              int64_t replicas);

}  // namespace leadline::spec
