#include "model/router/weighted_sum_kernel.h"

#include <algorithm>

#include "model/layers/simd.h"

namespace leadline::model {
namespace {

template <typename Scalar>
LEADLINE_INLINE void Forward(const SumShape& shape,
                             const std::vector<const Scalar*>& values,
                             const Scalar* weights, int64_t first, int64_t last,
                             Scalar* out) {
  const int64_t width = shape.width;
  for (int64_t row = first * shape.tokens; row < last * shape.tokens; ++row) {
    const Scalar* const w = weights + row / shape.tokens /
                                          shape.sequences_per_replica *
                                          shape.sources;
    Scalar* const sum = out + row * width;
    for (int64_t j = 0; j < shape.sources; ++j) {
      const Scalar* const v = values[j] + row * width;
      const Scalar weight = w[j];
      if (j == 0) {
#pragma omp simd
        for (int64_t d = 0; d < width; ++d) sum[d] = weight * v[d];
      } else {
#pragma omp simd
        for (int64_t d = 0; d < width; ++d) sum[d] += weight * v[d];
      }
    }
  }
}

/// after = before + weight * dout, and <dout, v>.
template <typename Scalar>
LEADLINE_INLINE Scalar SendBack(int64_t width, Scalar weight, const Scalar* v,
                                const Scalar* dout, const Scalar* before,
                                Scalar* after) {
  Scalar dot = 0;
#pragma omp simd reduction(+ : dot)
  for (int64_t d = 0; d < width; ++d) dot += dout[d] * v[d];
  if (after == nullptr) return dot;
  if (before == nullptr) {
#pragma omp simd
    for (int64_t d = 0; d < width; ++d) after[d] = weight * dout[d];
  } else {
#pragma omp simd
    for (int64_t d = 0; d < width; ++d) after[d] = before[d] + weight * dout[d];
  }
  return dot;
}

template <typename Scalar>
LEADLINE_INLINE void Backward(const SumShape& shape,
                              const std::vector<const Scalar*>& values,
                              const Scalar* weights, const Scalar* dout,
                              int64_t first, int64_t last,
                              const SumGradient<Scalar>& gradient) {
  const int64_t width = shape.width;
  for (int64_t sequence = first; sequence < last; ++sequence) {
    const Scalar* const w =
        weights + sequence / shape.sequences_per_replica * shape.sources;
    Scalar* const dw = gradient.weights + sequence * shape.sources;
    std::fill_n(dw, shape.sources, Scalar{0});
    for (int64_t t = 0; t < shape.tokens; ++t) {
      const int64_t at = (sequence * shape.tokens + t) * width;
      for (int64_t j = 0; j < shape.sources; ++j) {
        dw[j] += SendBack(
            width, w[j], values[j] + at, dout + at,
            gradient.before[j] == nullptr ? nullptr : gradient.before[j] + at,
            gradient.after[j] == nullptr ? nullptr : gradient.after[j] + at);
      }
    }
  }
}

}  // namespace

LEADLINE_CPU_CLONES void SumForward(const SumShape& shape,
                                    const std::vector<const float*>& values,
                                    const float* weights, int64_t first,
                                    int64_t last, float* out) {
  Forward(shape, values, weights, first, last, out);
}

LEADLINE_CPU_CLONES void SumForward(const SumShape& shape,
                                    const std::vector<const double*>& values,
                                    const double* weights, int64_t first,
                                    int64_t last, double* out) {
  Forward(shape, values, weights, first, last, out);
}

LEADLINE_CPU_CLONES void SumBackward(const SumShape& shape,
                                     const std::vector<const float*>& values,
                                     const float* weights, const float* dout,
                                     int64_t first, int64_t last,
                                     const SumGradient<float>& gradient) {
  Backward(shape, values, weights, dout, first, last, gradient);
}

LEADLINE_CPU_CLONES void SumBackward(const SumShape& shape,
                                     const std::vector<const double*>& values,
                                     const double* weights, const double* dout,
                                     int64_t first, int64_t last,
                                     const SumGradient<double>& gradient) {
  Backward(shape, values, weights, dout, first, last, gradient);
}

}  // namespace leadline::model
