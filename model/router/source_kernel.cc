#include "model/router/source_kernel.h"

#include <cmath>

#include "model/layers/simd.h"

namespace leadline::model {
namespace {

template <typename Scalar>
LEADLINE_INLINE Scalar Store(int64_t width, const Scalar* before,
                             const Scalar* update, Scalar sign, Scalar* sum) {
  Scalar squares = 0;
  // NOLINTNEXTLINE(bugprone-branch-clone): it does not look into these loops.
  if (before == nullptr) {
#pragma omp simd reduction(+ : squares)
    for (int64_t d = 0; d < width; ++d) {
      const Scalar value = sign * update[d];
      sum[d] = value;
      squares += value * value;
    }
  } else {
#pragma omp simd reduction(+ : squares)
    for (int64_t d = 0; d < width; ++d) {
      const Scalar value = before[d] + sign * update[d];
      sum[d] = value;
      squares += value * value;
    }
  }
  return squares;
}

template <typename Scalar>
LEADLINE_INLINE void Add(int64_t width, int64_t first, int64_t last,
                         const Scalar* before, const Scalar* update,
                         double sign, double eps, Scalar* sum,
                         Scalar* inverse_rms) {
  for (int64_t row = first; row < last; ++row) {
    const Scalar* const u = update + row * width;
    Scalar squares = 0;
    if (sum == nullptr) {
#pragma omp simd reduction(+ : squares)
      for (int64_t d = 0; d < width; ++d) squares += u[d] * u[d];
    } else {
      squares = Store(width, before == nullptr ? nullptr : before + row * width,
                      u, static_cast<Scalar>(sign), sum + row * width);
    }
    inverse_rms[row] = 1 / std::sqrt(squares / static_cast<Scalar>(width) +
                                     static_cast<Scalar>(eps));
  }
}

}  // namespace

LEADLINE_CPU_CLONES void AddToSource(int64_t width, int64_t first, int64_t last,
                                     const float* before, const float* update,
                                     double sign, double eps, float* sum,
                                     float* inverse_rms) {
  Add(width, first, last, before, update, sign, eps, sum, inverse_rms);
}

LEADLINE_CPU_CLONES void AddToSource(int64_t width, int64_t first, int64_t last,
                                     const double* before, const double* update,
                                     double sign, double eps, double* sum,
                                     double* inverse_rms) {
  Add(width, first, last, before, update, sign, eps, sum, inverse_rms);
}

}  // namespace leadline::model
