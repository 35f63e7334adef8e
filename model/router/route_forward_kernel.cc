#include <algorithm>
#include <cmath>

#include "model/layers/simd.h"
#include "model/router/route_kernel.h"

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

// `heads` is an argument of its own: where it is the constant 1, its loops are
// compiled away.

/// The logits of one token, `a` [heads, J].
template <typename Scalar>
LEADLINE_INLINE void Logits(const RouteShape& shape, int64_t heads,
                            const RouteInput<Scalar>& input, int64_t replica,
                            int64_t row, Scalar* a) {
  const int64_t slice = shape.width / heads;
  const Scalar* const key =
      input.key == nullptr ? nullptr : input.key + replica * shape.key_stride;
  for (int64_t j = 0; j < shape.sources; ++j) {
    const RouteSource<Scalar>& source = input.sources[j];
    const int64_t place = source.of_replica ? replica : row;
    for (int64_t h = 0; h < heads; ++h) {
      Scalar z = 0;
      if (key != nullptr && source.value != nullptr) {
        z = Dot(key + h * slice,
                source.value + place * source.stride + h * slice, slice);
        if (source.inverse_rms != nullptr) z *= source.inverse_rms[place];
      }
      if (source.bias != nullptr)
        z += source.bias[replica * source.bias_stride];
      a[h * shape.sources + j] = z;
    }
  }
}

/// The mixture of one token in all heads, into `out`.
template <typename Scalar>
LEADLINE_INLINE void Mix(const RouteShape& shape, int64_t heads,
                         const RouteInput<Scalar>& input, int64_t replica,
                         int64_t row, const Scalar* a, Scalar* out) {
  const int64_t slice = shape.width / heads;
  bool begun = false;
  for (int64_t j = 0; j < shape.sources; ++j) {
    const RouteSource<Scalar>& source = input.sources[j];
    if (source.value == nullptr) continue;
    const int64_t place = source.of_replica ? replica : row;
    for (int64_t h = 0; h < heads; ++h) {
      const Scalar weight = a[h * shape.sources + j];
      const Scalar share =
          source.scale == nullptr ? weight : weight * source.scale[row];
      const Scalar* const v = source.value + place * source.stride + h * slice;
      Scalar* const o = out + h * slice;
      // NOLINTNEXTLINE(bugprone-branch-clone): it does not look into them.
      if (!begun) {
#pragma omp simd
        for (int64_t d = 0; d < slice; ++d) o[d] = share * v[d];
      } else {
#pragma omp simd
        for (int64_t d = 0; d < slice; ++d) o[d] += share * v[d];
      }
    }
    begun = true;
  }
}

template <typename Scalar>
LEADLINE_INLINE void Forward(const RouteShape& shape, int64_t heads,
                             const RouteInput<Scalar>& input, int64_t first,
                             int64_t last, Scalar* out, Scalar* weights) {
  const int64_t rows = shape.rows();
  std::vector<Scalar> a(shape.sources * heads);
  for (int64_t row = first * shape.tokens; row < last * shape.tokens; ++row) {
    const int64_t replica = row / shape.tokens / shape.sequences_per_replica;
    Logits(shape, heads, input, replica, row, a.data());
    for (int64_t h = 0; h < heads; ++h) {
      Softmax(shape.sources, a.data() + h * shape.sources);
    }
    for (int64_t j = 0; j < shape.sources; ++j) {
      for (int64_t h = 0; h < heads; ++h) {
        weights[(j * rows + row) * heads + h] = a[h * shape.sources + j];
      }
    }
    Mix(shape, heads, input, replica, row, a.data(), out + row * shape.width);
  }
}

}  // namespace

LEADLINE_CPU_CLONES void RouteForward(const RouteShape& shape,
                                      const RouteInput<float>& input,
                                      int64_t first, int64_t last, float* out,
                                      float* weights) {
  if (shape.heads == 1) {
    Forward(shape, 1, input, first, last, out, weights);
  } else {
    Forward(shape, shape.heads, input, first, last, out, weights);
  }
}

LEADLINE_CPU_CLONES void RouteForward(const RouteShape& shape,
                                      const RouteInput<double>& input,
                                      int64_t first, int64_t last, double* out,
                                      double* weights) {
  if (shape.heads == 1) {
    Forward(shape, 1, input, first, last, out, weights);
  } else {
    Forward(shape, shape.heads, input, first, last, out, weights);
  }
}

}  // namespace leadline::model
