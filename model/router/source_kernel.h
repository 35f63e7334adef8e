// The loops that make a router's sources, over plain pointers.

#pragma once

#include <cstdint>

namespace leadline::model {

/// For vectors [first, last) of `width`: sum = before + sign * update (before
/// null: sign * update; sum null: nothing is stored, before must be null and
/// sign 1) and inverse_rms = 1 / sqrt(mean(sum^2) + eps).
void AddToSource(int64_t width, int64_t first, int64_t last,
                 const float* before, const float* update, double sign,
                 double eps, float* sum, float* inverse_rms);
void AddToSource(int64_t width, int64_t first, int64_t last,
                 const double* before, const double* update, double sign,
                 double eps, double* sum, double* inverse_rms);

}  // namespace leadline::model
