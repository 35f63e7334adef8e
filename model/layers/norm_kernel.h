// The loops of RMSNorm over plain pointers, for float and double.

#pragma once

#include <cstdint>

namespace leadline::model {

/// `sequences` runs of `rows` vectors of `width`; sequence i has the gain
/// number i / sequences_per_gain.
struct NormShape {
  int64_t rows = 0;
  int64_t width = 0;
  int64_t sequences_per_gain = 1;
};

/// y = gain * x * r and r = 1 / sqrt(mean(x^2) + eps), for sequences [first,
/// last). `gain` may be null.
void NormForward(const NormShape& shape, int64_t first, int64_t last,
                 const float* x, const float* gain, double eps, float* y,
                 float* r);
void NormForward(const NormShape& shape, int64_t first, int64_t last,
                 const double* x, const double* gain, double eps, double* y,
                 double* r);

/// dx of each vector, and each sequence's share of dgain ([sequences, width];
/// null with a null gain).
void NormBackward(const NormShape& shape, int64_t first, int64_t last,
                  const float* x, const float* gain, const float* r,
                  const float* dy, float* dx, float* dgain);
void NormBackward(const NormShape& shape, int64_t first, int64_t last,
                  const double* x, const double* gain, const double* r,
                  const double* dy, double* dx, double* dgain);

}  // namespace leadline::model
