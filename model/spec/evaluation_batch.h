// How much text is evaluated at once: what the trainer does and the forecast of
// memory counts.

#pragma once

#include <algorithm>
#include <cstdint>

namespace leadline::spec {

/// Windows of the probe batch: the same for all methods, seeds and replicas.
inline constexpr int64_t kProbeWindows = 8;

/// Windows of a replica in one pass of an evaluation: on a CPU a batch should
/// stay in the cache, on a GPU it should fill it.
constexpr int64_t EvaluationWindows(int64_t replicas, int64_t context,
                                    bool cpu) {
  const int64_t tokens = cpu ? 2048 : 65'536;
  return std::max<int64_t>(1, tokens / (replicas * context));
}

}  // namespace leadline::spec
