#include "model/router/route_kernel.h"

#include <algorithm>
#include <cmath>

#include "model/layers/simd.h"

namespace leadline::model {
namespace {

template <typename Scalar>
LEADLINE_INLINE Scalar Dot(const Scalar* a, const Scalar* b, int64_t width) {
  Scalar sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t d = 0; d < width; ++d) sum += a[d] * b[d];
  return sum;
}

/// Logits to weights; both [J].
template <typename Scalar>
LEADLINE_INLINE void Softmax(int64_t sources, Scalar* z) {
  Scalar most = z[0];
  for (int64_t j = 1; j < sources; ++j) most = std::max(most, z[j]);
  Scalar sum = 0;
  for (int64_t j = 0; j < sources; ++j) {
    z[j] = std::exp(z[j] - most);
    sum += z[j];
  }
  for (int64_t j = 0; j < sources; ++j) z[j] /= sum;
}

template <typename Scalar>
LEADLINE_INLINE void Forward(const RouteShape& shape,
                             const RouteInput<Scalar>& input, int64_t first,
                             int64_t last, Scalar* out, Scalar* weights) {
  const int64_t width = shape.width;
  const int64_t rows = shape.sequences * shape.tokens;
  std::vector<Scalar> a(shape.sources);
  for (int64_t row = first * shape.tokens; row < last * shape.tokens; ++row) {
    const int64_t replica = row / shape.tokens / shape.sequences_per_replica;
    for (int64_t j = 0; j < shape.sources; ++j) {
      Scalar z = 0;
      if (input.key != nullptr) {
        z = Dot(input.key + replica * shape.key_stride,
                input.values[j] + row * width, width);
        if (input.inverse_rms[j] != nullptr) z *= input.inverse_rms[j][row];
      }
      const int64_t column = input.bias_columns[j];
      if (column >= 0) z += input.bias[replica * shape.bias_stride + column];
      a[j] = z;
    }
    Softmax(shape.sources, a.data());
    Scalar* const o = out + row * width;
    for (int64_t j = 0; j < shape.sources; ++j) {
      weights[j * rows + row] = a[j];
      const Scalar share =
          input.scales[j] == nullptr ? a[j] : a[j] * input.scales[j][row];
      const Scalar* const v = input.values[j] + row * width;
      if (j == 0) {
#pragma omp simd
        for (int64_t d = 0; d < width; ++d) o[d] = share * v[d];
      } else {
#pragma omp simd
        for (int64_t d = 0; d < width; ++d) o[d] += share * v[d];
      }
    }
  }
}

/// What a token's source j sends back: of dout, of the key, and of itself.
template <typename Scalar>
struct Shares {
  Scalar of_dout = 0;
  Scalar of_key = 0;
  Scalar of_value = 0;
};

template <typename Scalar>
LEADLINE_INLINE void SendBack(int64_t width, const Shares<Scalar>& shares,
                              const Scalar* dout, const Scalar* key,
                              const Scalar* value, const Scalar* before,
                              Scalar* after) {
  if (before == nullptr) {
#pragma omp simd
    for (int64_t d = 0; d < width; ++d) {
      after[d] = shares.of_dout * dout[d] + shares.of_key * key[d] -
                 shares.of_value * value[d];
    }
  } else {
#pragma omp simd
    for (int64_t d = 0; d < width; ++d) {
      after[d] =
          before[d] + (shares.of_dout * dout[d] + shares.of_key * key[d] -
                       shares.of_value * value[d]);
    }
  }
}

/// Where one token lies, and the two numbers a source keeps between its uses.
template <typename Scalar>
struct Workspace {
  std::vector<Scalar> da;  // dL/da_j, then dL/dz_j
  std::vector<Scalar> c;   // <key, v_j>
};

template <typename Scalar>
LEADLINE_INLINE void LogitGradients(const RouteShape& shape,
                                    const RouteInput<Scalar>& input,
                                    const Scalar* weights, const Scalar* dout,
                                    const Scalar* key, int64_t row,
                                    Workspace<Scalar>& work) {
  const int64_t width = shape.width;
  const int64_t rows = shape.sequences * shape.tokens;
  Scalar mean = 0;
  for (int64_t j = 0; j < shape.sources; ++j) {
    const Scalar* const v = input.values[j] + row * width;
    Scalar da = 0;
    Scalar c = 0;
#pragma omp simd reduction(+ : da, c)
    for (int64_t d = 0; d < width; ++d) {
      da += dout[d] * v[d];
      c += key[d] * v[d];
    }
    if (input.scales[j] != nullptr) da *= input.scales[j][row];
    work.da[j] = da;
    work.c[j] = c;
    mean += weights[j * rows + row] * da;
  }
  for (int64_t j = 0; j < shape.sources; ++j) {
    work.da[j] = weights[j * rows + row] * (work.da[j] - mean);
  }
}

template <typename Scalar>
LEADLINE_INLINE void BackwardToken(const RouteShape& shape,
                                   const RouteInput<Scalar>& input,
                                   const Scalar* weights, const Scalar* dout,
                                   const Scalar* key, int64_t row,
                                   int64_t sequence,
                                   const RouteGradient<Scalar>& gradient,
                                   Workspace<Scalar>& work) {
  const int64_t width = shape.width;
  const int64_t rows = shape.sequences * shape.tokens;
  LogitGradients(shape, input, weights, dout, key, row, work);
  for (int64_t j = 0; j < shape.sources; ++j) {
    const Scalar* const v = input.values[j] + row * width;
    const Scalar dz = work.da[j];
    const bool normed = input.inverse_rms[j] != nullptr;
    const Scalar r = normed ? input.inverse_rms[j][row] : Scalar{1};
    if (gradient.logits != nullptr) {
      gradient.logits[sequence * shape.sources + j] += dz;
    }
    if (gradient.key != nullptr) {
      Scalar* const dkey = gradient.key + sequence * width;
      const Scalar share = dz * r;
#pragma omp simd
      for (int64_t d = 0; d < width; ++d) dkey[d] += share * v[d];
    }
    if (gradient.after[j] == nullptr) continue;
    const Scalar scale =
        input.scales[j] == nullptr ? Scalar{1} : input.scales[j][row];
    const Shares<Scalar> shares{
        weights[j * rows + row] * scale, dz * r,
        normed ? dz * r * work.c[j] * r * r / static_cast<Scalar>(width)
               : Scalar{0}};
    SendBack(width, shares, dout, key, v,
             gradient.before[j] == nullptr ? nullptr
                                           : gradient.before[j] + row * width,
             gradient.after[j] + row * width);
  }
}

template <typename Scalar>
LEADLINE_INLINE void Backward(const RouteShape& shape,
                              const RouteInput<Scalar>& input,
                              const Scalar* weights, const Scalar* dout,
                              int64_t first, int64_t last,
                              const RouteGradient<Scalar>& gradient) {
  const int64_t width = shape.width;
  Workspace<Scalar> work{std::vector<Scalar>(shape.sources),
                         std::vector<Scalar>(shape.sources)};
  const std::vector<Scalar> no_key(width);
  for (int64_t sequence = first; sequence < last; ++sequence) {
    if (gradient.key != nullptr) {
      std::fill_n(gradient.key + sequence * width, width, Scalar{0});
    }
    if (gradient.logits != nullptr) {
      std::fill_n(gradient.logits + sequence * shape.sources, shape.sources,
                  Scalar{0});
    }
    const Scalar* const key =
        input.key == nullptr
            ? no_key.data()
            : input.key +
                  sequence / shape.sequences_per_replica * shape.key_stride;
    for (int64_t t = 0; t < shape.tokens; ++t) {
      const int64_t row = sequence * shape.tokens + t;
      BackwardToken(shape, input, weights, dout + row * width, key, row,
                    sequence, gradient, work);
    }
  }
}

}  // namespace

LEADLINE_CPU_CLONES void RouteForward(const RouteShape& shape,
                                      const RouteInput<float>& input,
                                      int64_t first, int64_t last, float* out,
                                      float* weights) {
  Forward(shape, input, first, last, out, weights);
}

LEADLINE_CPU_CLONES void RouteForward(const RouteShape& shape,
                                      const RouteInput<double>& input,
                                      int64_t first, int64_t last, double* out,
                                      double* weights) {
  Forward(shape, input, first, last, out, weights);
}

LEADLINE_CPU_CLONES void RouteBackward(const RouteShape& shape,
                                       const RouteInput<float>& input,
                                       const float* weights, const float* dout,
                                       int64_t first, int64_t last,
                                       const RouteGradient<float>& gradient) {
  Backward(shape, input, weights, dout, first, last, gradient);
}

LEADLINE_CPU_CLONES void RouteBackward(const RouteShape& shape,
                                       const RouteInput<double>& input,
                                       const double* weights,
                                       const double* dout, int64_t first,
                                       int64_t last,
                                       const RouteGradient<double>& gradient) {
  Backward(shape, input, weights, dout, first, last, gradient);
}

}  // namespace leadline::model
