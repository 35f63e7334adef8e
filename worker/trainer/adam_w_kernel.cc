#include "worker/trainer/adam_w_kernel.h"

#include <array>
#include <cmath>

#include "model/layers/simd.h"

namespace leadline::trainer {
namespace {

constexpr int64_t kLanes = 16;

template <typename Real>
LEADLINE_INLINE void Update(Real* value, Real* moment1, Real* moment2,
                            const Real* gradient, int64_t count,
                            const AdamWCoefficients& c) {
  const Real factor = static_cast<Real>(c.factor);
  const Real keep = static_cast<Real>(1 - c.rate * c.decay);
  const Real beta1 = static_cast<Real>(c.beta1);
  const Real beta2 = static_cast<Real>(c.beta2);
  const Real other1 = static_cast<Real>(1 - c.beta1);
  const Real other2 = static_cast<Real>(1 - c.beta2);
  const Real step = static_cast<Real>(c.rate / c.correction1);
  const Real root2 = static_cast<Real>(1 / std::sqrt(c.correction2));
  const Real eps = static_cast<Real>(c.eps);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const Real g = gradient[i] * factor;
    const Real m = beta1 * moment1[i] + other1 * g;
    const Real v = beta2 * moment2[i] + other2 * g * g;
    moment1[i] = m;
    moment2[i] = v;
    value[i] = value[i] * keep - step * m / (std::sqrt(v) * root2 + eps);
  }
}

template <typename Real>
LEADLINE_INLINE double Squares(const Real* values, int64_t count) {
  std::array<double, kLanes> sums{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
#pragma omp simd
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      sums[lane] += value * value;
    }
  }
  for (int64_t lane = 0; i < count; ++i, ++lane) {
    const double value = values[i];
    sums[lane] += value * value;
  }
  double sum = 0;
  for (const double lane : sums) sum += lane;
  return sum;
}

}  // namespace

LEADLINE_CPU_CLONES
void UpdateAdamW(float* value, float* moment1, float* moment2,
                 const float* gradient, int64_t count,
                 const AdamWCoefficients& coefficients) {
  Update(value, moment1, moment2, gradient, count, coefficients);
}

LEADLINE_CPU_CLONES
void UpdateAdamW(double* value, double* moment1, double* moment2,
                 const double* gradient, int64_t count,
                 const AdamWCoefficients& coefficients) {
  Update(value, moment1, moment2, gradient, count, coefficients);
}

LEADLINE_CPU_CLONES
double SumOfSquares(const float* values, int64_t count) {
  return Squares(values, count);
}

LEADLINE_CPU_CLONES
double SumOfSquares(const double* values, int64_t count) {
  return Squares(values, count);
}

}  // namespace leadline::trainer
