// The memory that training really takes, by the trainer's own classes.

#pragma once

#include <cstdint>

#include "model/spec/settings.h"

namespace leadline::testing {

/// Peak of live tensor bytes over the making of a model, a training step and an
/// evaluation, on the CPU: a later step takes what the first one took.
int64_t MeasurePeakBytes(const spec::Settings& settings, int64_t replicas,
                         int64_t vocabulary);

}  // namespace leadline::testing
