// Costs of methods without routers that keep more than one sum, or another one.

#include "model/spec/method_costs.h"

namespace leadline::spec {
namespace {

int64_t Factorial(int64_t n) { return n < 2 ? 1 : n * Factorial(n - 1); }

/// Reading from M streams, mixing them and adding the update to each.
double MixingFlops(int64_t sublayers, int64_t streams, int64_t width) {
  return 2.0 * static_cast<double>(sublayers * streams * width) *
         static_cast<double>(streams + 2);
}

}  // namespace

MethodCost DenseFormerCost(const Settings& settings) {
  const int64_t dilation = settings.Integer("dilation");
  const int64_t period = settings.Integer("period");
  int64_t weights = 0;
  for (int64_t layers = period; layers <= settings.depth(); layers += period) {
    weights += (layers + dilation) / dilation;
  }
  return {.parameters = weights,
          .other_flops_per_token =
              2.0 * static_cast<double>(weights * settings.Integer("d_model"))};
}

MethodCost HyperConnectionsCost(const Settings& settings) {
  const int64_t sublayers = 2 * settings.depth();
  const int64_t m = settings.Integer("streams");
  const int64_t width = settings.Integer("d_model");
  const double mixing = MixingFlops(sublayers, m, width);
  if (!settings.IsOn("dynamic")) {
    return {.parameters = sublayers * (m * m + 2 * m),
            .other_flops_per_token = mixing};
  }
  const double coefficients =
      2.0 * static_cast<double>(sublayers * m * width * (m + 2));
  return {.parameters = sublayers * (m * m + 2 * m + (m + 3) * width + 2),
          .other_flops_per_token = mixing + coefficients};
}

MethodCost MhcCost(const Settings& settings) {
  const int64_t sublayers = 2 * settings.depth();
  const int64_t m = settings.Integer("streams");
  const int64_t width = settings.Integer("d_model");
  const int64_t of_matrix =
      settings.Word("residual") == "permutations" ? Factorial(m) : m * m;
  const int64_t columns = 2 * m + of_matrix;
  const double coefficients =
      2.0 * static_cast<double>(sublayers * m * width * columns);
  return {
      .parameters = sublayers * (m * width * columns + columns + 3),
      .other_flops_per_token = MixingFlops(sublayers, m, width) + coefficients};
}

MethodCost DeepNormCost(const Settings& settings) {
  return {.parameters = -settings.Integer("d_model")};
}

}  // namespace leadline::spec
