#include "model/layers/norm_kernel.h"

#include <cmath>

#include "model/layers/simd.h"

namespace leadline::model {
namespace {

template <typename Scalar>
LEADLINE_INLINE void Forward(const NormShape& shape, int64_t first,
                             int64_t last, const Scalar* x, const Scalar* gain,
                             double eps, Scalar* y, Scalar* r) {
  const int64_t width = shape.width;
  for (int64_t row = first * shape.rows; row < last * shape.rows; ++row) {
    const Scalar* const x_row = x + row * width;
    Scalar* const y_row = y + row * width;
    Scalar squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int64_t d = 0; d < width; ++d) squares += x_row[d] * x_row[d];
    const Scalar scale = 1 / std::sqrt(squares / static_cast<Scalar>(width) +
                                       static_cast<Scalar>(eps));
    r[row] = scale;
    if (gain == nullptr) {
#pragma omp simd
      for (int64_t d = 0; d < width; ++d) y_row[d] = x_row[d] * scale;
      continue;
    }
    const Scalar* const g =
        gain + row / shape.rows / shape.sequences_per_gain * width;
#pragma omp simd
    for (int64_t d = 0; d < width; ++d) y_row[d] = g[d] * (x_row[d] * scale);
  }
}

template <typename Scalar>
LEADLINE_INLINE void BackwardRow(int64_t width, const Scalar* x,
                                 const Scalar* gain, Scalar r, const Scalar* dy,
                                 Scalar* dx, Scalar* dgain) {
  Scalar dot = 0;
  if (gain == nullptr) {
#pragma omp simd reduction(+ : dot)
    for (int64_t d = 0; d < width; ++d) dot += dy[d] * x[d];
    const Scalar pull = dot * r * r * r / static_cast<Scalar>(width);
#pragma omp simd
    for (int64_t d = 0; d < width; ++d) dx[d] = r * dy[d] - pull * x[d];
    return;
  }
#pragma omp simd reduction(+ : dot)
  for (int64_t d = 0; d < width; ++d) dot += gain[d] * dy[d] * x[d];
  const Scalar pull = dot * r * r * r / static_cast<Scalar>(width);
#pragma omp simd
  for (int64_t d = 0; d < width; ++d) {
    dgain[d] += dy[d] * (x[d] * r);
    dx[d] = r * (gain[d] * dy[d]) - pull * x[d];
  }
}

template <typename Scalar>
LEADLINE_INLINE void Backward(const NormShape& shape, int64_t first,
                              int64_t last, const Scalar* x, const Scalar* gain,
                              const Scalar* r, const Scalar* dy, Scalar* dx,
                              Scalar* dgain) {
  const int64_t width = shape.width;
  for (int64_t sequence = first; sequence < last; ++sequence) {
    const Scalar* g = nullptr;
    Scalar* dg = nullptr;
    if (gain != nullptr) {
      g = gain + sequence / shape.sequences_per_gain * width;
      dg = dgain + sequence * width;
      for (int64_t d = 0; d < width; ++d) dg[d] = 0;
    }
    for (int64_t i = 0; i < shape.rows; ++i) {
      const int64_t row = sequence * shape.rows + i;
      BackwardRow(width, x + row * width, g, r[row], dy + row * width,
                  dx + row * width, dg);
    }
  }
}

}  // namespace

LEADLINE_CPU_CLONES void NormForward(const NormShape& shape, int64_t first,
                                     int64_t last, const float* x,
                                     const float* gain, double eps, float* y,
                                     float* r) {
  Forward(shape, first, last, x, gain, eps, y, r);
}

LEADLINE_CPU_CLONES void NormForward(const NormShape& shape, int64_t first,
                                     int64_t last, const double* x,
                                     const double* gain, double eps, double* y,
                                     double* r) {
  Forward(shape, first, last, x, gain, eps, y, r);
}

LEADLINE_CPU_CLONES void NormBackward(const NormShape& shape, int64_t first,
                                      int64_t last, const float* x,
                                      const float* gain, const float* r,
                                      const float* dy, float* dx,
                                      float* dgain) {
  Backward(shape, first, last, x, gain, r, dy, dx, dgain);
}

LEADLINE_CPU_CLONES void NormBackward(const NormShape& shape, int64_t first,
                                      int64_t last, const double* x,
                                      const double* gain, const double* r,
                                      const double* dy, double* dx,
                                      double* dgain) {
  Backward(shape, first, last, x, gain, r, dy, dx, dgain);
}

}  // namespace leadline::model
