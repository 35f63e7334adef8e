#include "model/layers/rotary_kernel.h"

#include "model/layers/simd.h"

namespace leadline::model {
namespace {

template <typename Scalar>
LEADLINE_INLINE void TurnTokens(const TurnShape& shape, int64_t first,
                                int64_t last, Scalar sign, const Scalar* cosine,
                                const Scalar* sine, const Scalar* x,
                                Scalar* y) {
  const int64_t half = shape.half;
  for (int64_t token = first; token < last; ++token) {
    const Scalar* const c = cosine + token % shape.tokens * half;
    const Scalar* const s = sine + token % shape.tokens * half;
    for (int64_t h = 0; h < shape.heads; ++h) {
      const int64_t offset = (token * shape.heads + h) * 2 * half;
      const Scalar* const from = x + offset;
      Scalar* const to = y + offset;
#pragma omp simd
      for (int64_t i = 0; i < half; ++i) {
        const Scalar turn = sign * s[i];
        to[i] = from[i] * c[i] - from[half + i] * turn;
        to[half + i] = from[half + i] * c[i] + from[i] * turn;
      }
    }
  }
}

}  // namespace

LEADLINE_CPU_CLONES void Turn(const TurnShape& shape, int64_t first,
                              int64_t last, double sign, const float* cosine,
                              const float* sine, const float* x, float* y) {
  TurnTokens(shape, first, last, static_cast<float>(sign), cosine, sine, x, y);
}

LEADLINE_CPU_CLONES void Turn(const TurnShape& shape, int64_t first,
                              int64_t last, double sign, const double* cosine,
                              const double* sine, const double* x, double* y) {
  TurnTokens(shape, first, last, sign, cosine, sine, x, y);
}

}  // namespace leadline::model
