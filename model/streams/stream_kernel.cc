#include "model/streams/stream_kernel.h"

#include <algorithm>

#include "model/layers/simd.h"

namespace leadline::model {
namespace {

/// sum = factor * v, or sum + factor * v.
template <typename Scalar>
LEADLINE_INLINE void Take(int64_t width, bool first, Scalar factor,
                          const Scalar* v, Scalar* sum) {
  if (first) {
#pragma omp simd
    for (int64_t d = 0; d < width; ++d) sum[d] = factor * v[d];
  } else {
#pragma omp simd
    for (int64_t d = 0; d < width; ++d) sum[d] += factor * v[d];
  }
}

template <typename Scalar>
LEADLINE_INLINE Scalar Dot(int64_t width, const Scalar* a, const Scalar* b) {
  Scalar dot = 0;
#pragma omp simd reduction(+ : dot)
  for (int64_t d = 0; d < width; ++d) dot += a[d] * b[d];
  return dot;
}

template <typename Scalar>
LEADLINE_INLINE void Read(const StreamShape& shape, int64_t first, int64_t last,
                          const Scalar* h, const Scalar* coefficients,
                          Scalar* x) {
  const int64_t m = shape.streams;
  const int64_t width = shape.width;
  for (int64_t token = first; token < last; ++token) {
    const Scalar* const c = coefficients + token * m * (m + 2);
    for (int64_t s = 0; s < m; ++s) {
      Take(width, s == 0, c[s * (m + 2)], h + (token * m + s) * width,
           x + token * width);
    }
  }
}

template <typename Scalar>
LEADLINE_INLINE void BackFromRead(const StreamShape& shape, int64_t first,
                                  int64_t last, const Scalar* h,
                                  const Scalar* coefficients, const Scalar* dx,
                                  Scalar* dh, Scalar* dcoefficients) {
  const int64_t m = shape.streams;
  const int64_t width = shape.width;
  for (int64_t token = first; token < last; ++token) {
    const Scalar* const c = coefficients + token * m * (m + 2);
    Scalar* const dc = dcoefficients + token * m * (m + 2);
    std::fill_n(dc, m * (m + 2), Scalar{0});
    for (int64_t s = 0; s < m; ++s) {
      const int64_t at = (token * m + s) * width;
      dc[s * (m + 2)] = Dot(width, dx + token * width, h + at);
      Take(width, true, c[s * (m + 2)], dx + token * width, dh + at);
    }
  }
}

template <typename Scalar>
LEADLINE_INLINE void Mix(const StreamShape& shape, int64_t first, int64_t last,
                         const Scalar* h, const Scalar* u,
                         const Scalar* coefficients, Scalar* out) {
  const int64_t m = shape.streams;
  const int64_t width = shape.width;
  for (int64_t token = first; token < last; ++token) {
    const Scalar* const c = coefficients + token * m * (m + 2);
    for (int64_t t = 0; t < m; ++t) {
      Scalar* const sum = out + (token * m + t) * width;
      for (int64_t s = 0; s < m; ++s) {
        Take(width, s == 0, c[s * (m + 2) + 1 + t], h + (token * m + s) * width,
             sum);
      }
      Take(width, false, c[t * (m + 2) + m + 1], u + token * width, sum);
    }
  }
}

template <typename Scalar>
LEADLINE_INLINE void BackFromMix(const StreamShape& shape, int64_t first,
                                 int64_t last, const Scalar* h, const Scalar* u,
                                 const Scalar* coefficients, const Scalar* dout,
                                 Scalar* dh, Scalar* du,
                                 Scalar* dcoefficients) {
  const int64_t m = shape.streams;
  const int64_t width = shape.width;
  for (int64_t token = first; token < last; ++token) {
    const Scalar* const c = coefficients + token * m * (m + 2);
    Scalar* const dc = dcoefficients + token * m * (m + 2);
    const Scalar* const up = u + token * width;
    for (int64_t s = 0; s < m; ++s) dc[s * (m + 2)] = 0;
    for (int64_t t = 0; t < m; ++t) {
      const Scalar* const from = dout + (token * m + t) * width;
      const int64_t post = t * (m + 2) + m + 1;
      dc[post] = Dot(width, from, up);
      Take(width, t == 0, c[post], from, du + token * width);
      for (int64_t s = 0; s < m; ++s) {
        const int64_t at = (token * m + s) * width;
        const int64_t mixing = s * (m + 2) + 1 + t;
        dc[mixing] = Dot(width, from, h + at);
        Take(width, t == 0, c[mixing], from, dh + at);
      }
    }
  }
}

}  // namespace

LEADLINE_CPU_CLONES void ReadForward(const StreamShape& shape, int64_t first,
                                     int64_t last, const float* h,
                                     const float* coefficients, float* x) {
  Read(shape, first, last, h, coefficients, x);
}

LEADLINE_CPU_CLONES void ReadForward(const StreamShape& shape, int64_t first,
                                     int64_t last, const double* h,
                                     const double* coefficients, double* x) {
  Read(shape, first, last, h, coefficients, x);
}

LEADLINE_CPU_CLONES void ReadBackward(const StreamShape& shape, int64_t first,
                                      int64_t last, const float* h,
                                      const float* coefficients,
                                      const float* dx, float* dh,
                                      float* dcoefficients) {
  BackFromRead(shape, first, last, h, coefficients, dx, dh, dcoefficients);
}

LEADLINE_CPU_CLONES void ReadBackward(const StreamShape& shape, int64_t first,
                                      int64_t last, const double* h,
                                      const double* coefficients,
                                      const double* dx, double* dh,
                                      double* dcoefficients) {
  BackFromRead(shape, first, last, h, coefficients, dx, dh, dcoefficients);
}

LEADLINE_CPU_CLONES void MixForward(const StreamShape& shape, int64_t first,
                                    int64_t last, const float* h,
                                    const float* u, const float* coefficients,
                                    float* out) {
  Mix(shape, first, last, h, u, coefficients, out);
}

LEADLINE_CPU_CLONES void MixForward(const StreamShape& shape, int64_t first,
                                    int64_t last, const double* h,
                                    const double* u, const double* coefficients,
                                    double* out) {
  Mix(shape, first, last, h, u, coefficients, out);
}

LEADLINE_CPU_CLONES void MixBackward(const StreamShape& shape, int64_t first,
                                     int64_t last, const float* h,
                                     const float* u, const float* coefficients,
                                     const float* dout, float* dh, float* du,
                                     float* dcoefficients) {
  BackFromMix(shape, first, last, h, u, coefficients, dout, dh, du,
              dcoefficients);
}

LEADLINE_CPU_CLONES void MixBackward(const StreamShape& shape, int64_t first,
                                     int64_t last, const double* h,
                                     const double* u,
                                     const double* coefficients,
                                     const double* dout, double* dh, double* du,
                                     double* dcoefficients) {
  BackFromMix(shape, first, last, h, u, coefficients, dout, dh, du,
              dcoefficients);
}

}  // namespace leadline::model
