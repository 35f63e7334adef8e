// Text that a model goes on with.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "worker/inference/loaded_model.h"

namespace leadline::inference {

struct SamplerOptions {
  int64_t length = 200;    // symbols
  double temperature = 1;  // 0: always the likeliest
  int64_t top_k = 0;       // of the likeliest alone; 0: of all
  int64_t seed = 0;        // symbol i is drawn by number i of stream `sample`
  int64_t symbols = 0;     // drawn from [0, symbols)
};

/// Draws `length` symbols after `prompt`, which is not empty, from a model of
/// one replica, and gives each to `take`. The model reads the last `context`
/// symbols.
void Sample(const LoadedModel& model, std::vector<int64_t> prompt,
            const SamplerOptions& options,
            const std::function<void(int64_t symbol)>& take);

}  // namespace leadline::inference
