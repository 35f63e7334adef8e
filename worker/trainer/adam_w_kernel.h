// The two loops over parameters that the optimiser makes on a CPU.

#pragma once

#include <cstdint>

namespace leadline::trainer {

/// What a step does to one value p with gradient g:
///
///   g *= factor;  p -= rate decay p
///   m = beta1 m + (1-beta1) g;  v = beta2 v + (1-beta2) g^2
///   p -= rate (m / correction1) / (sqrt(v / correction2) + eps)
struct AdamWCoefficients {
  double factor = 1;
  double rate = 0;
  double decay = 0;
  double beta1 = 0;
  double beta2 = 0;
  double correction1 = 1;
  double correction2 = 1;
  double eps = 0;
};

void UpdateAdamW(float* value, float* moment1, float* moment2,
                 const float* gradient, int64_t count,
                 const AdamWCoefficients& coefficients);
void UpdateAdamW(double* value, double* moment1, double* moment2,
                 const double* gradient, int64_t count,
                 const AdamWCoefficients& coefficients);

/// In double, in an order that depends on `count` alone.
double SumOfSquares(const float* values, int64_t count);
double SumOfSquares(const double* values, int64_t count);

}  // namespace leadline::trainer
