// The loops that read from and mix parallel streams, over plain pointers, for
// float and double. A token's streams are read once and stay in the cache.

#pragma once

#include <cstdint>

namespace leadline::model {

/// A token has `streams` vectors of `width`, and coefficients [M, M + 2]: row s
/// holds pre_s, A_{s,1..M} (from stream s, to stream t) and post_s.
struct StreamShape {
  int64_t streams = 0;  // M
  int64_t width = 0;    // D
};

/// x = sum_s pre_s h_s, for tokens [first, last).
void ReadForward(const StreamShape& shape, int64_t first, int64_t last,
                 const float* h, const float* coefficients, float* x);
void ReadForward(const StreamShape& shape, int64_t first, int64_t last,
                 const double* h, const double* coefficients, double* x);

/// dh, and all of dcoefficients, which are 0 but for pre.
void ReadBackward(const StreamShape& shape, int64_t first, int64_t last,
                  const float* h, const float* coefficients, const float* dx,
                  float* dh, float* dcoefficients);
void ReadBackward(const StreamShape& shape, int64_t first, int64_t last,
                  const double* h, const double* coefficients, const double* dx,
                  double* dh, double* dcoefficients);

/// out_t = sum_s A_{s,t} h_s + post_t u.
void MixForward(const StreamShape& shape, int64_t first, int64_t last,
                const float* h, const float* u, const float* coefficients,
                float* out);
void MixForward(const StreamShape& shape, int64_t first, int64_t last,
                const double* h, const double* u, const double* coefficients,
                double* out);

/// dh, du, and all of dcoefficients, which are 0 in pre.
void MixBackward(const StreamShape& shape, int64_t first, int64_t last,
                 const float* h, const float* u, const float* coefficients,
                 const float* dout, float* dh, float* du, float* dcoefficients);
void MixBackward(const StreamShape& shape, int64_t first, int64_t last,
                 const double* h, const double* u, const double* coefficients,
                 const double* dout, double* dh, double* du,
                 double* dcoefficients);

}  // namespace leadline::model
