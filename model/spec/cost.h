// What a cell costs, by formula and before anything runs.

#pragma once

#include <cstdint>
#include <optional>

#include "model/spec/settings.h"

namespace leadline::spec {

/// Number of trainable parameters of one replica. Without a vocabulary the
/// embedding (and an untied head) is left out.
int64_t CountParameters(const Settings& settings,
                        std::optional<int64_t> vocabulary);

/// Parameters that the method, and the flags beside it, add to (or take from)
/// the plain decoder.
int64_t CountMethodParameters(const Settings& settings);

/// Sum over all routers of their number of sources; 0 for methods without.
int64_t SumOfSources(const Settings& settings);

/// Floating-point operations of the whole training of one replica: forward and
/// backward (twice the forward) of every step. Without a vocabulary the head is
/// left out.
double CountTrainingFlops(const Settings& settings,
                          std::optional<int64_t> vocabulary);

}  // namespace leadline::spec
