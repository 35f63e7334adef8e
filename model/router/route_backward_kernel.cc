#include <algorithm>

#include "model/layers/simd.h"
#include "model/router/route_kernel.h"

namespace leadline::model {
namespace {

// `heads` is an argument of its own: where it is the constant 1, its loops are
// compiled away.

/// One token: where it lies, its key, and what arrives.
template <typename Scalar>
struct Token {
  int64_t row = 0;
  int64_t sequence = 0;
  int64_t replica = 0;
  const Scalar* key = nullptr;
  const Scalar* dout = nullptr;
};

/// What a token's sources keep between their uses, [J, heads] each.
template <typename Scalar>
struct Workspace {
  std::vector<Scalar> dz;  // dL/da_j, then dL/dz_j
  std::vector<Scalar> c;   // <key, v_j>
  std::vector<Scalar> mean;
};

template <typename Scalar>
LEADLINE_INLINE void LogitGradients(const RouteShape& shape, int64_t heads,
                                    const RouteInput<Scalar>& input,
                                    const Scalar* weights,
                                    const Token<Scalar>& token,
                                    Workspace<Scalar>& work) {
  const int64_t slice = shape.width / heads;
  const int64_t rows = shape.rows();
  std::fill_n(work.mean.data(), heads, Scalar{0});
  for (int64_t j = 0; j < shape.sources; ++j) {
    const RouteSource<Scalar>& source = input.sources[j];
    const Scalar* const vector =
        source.value == nullptr
            ? nullptr
            : source.value + (source.of_replica ? token.replica : token.row) *
                                 source.stride;
    for (int64_t h = 0; h < heads; ++h) {
      Scalar da = 0;
      Scalar c = 0;
      if (vector != nullptr) {
        const Scalar* const v = vector + h * slice;
        const Scalar* const dout = token.dout + h * slice;
        const Scalar* const key = token.key + h * slice;
#pragma omp simd reduction(+ : da, c)
        for (int64_t d = 0; d < slice; ++d) {
          da += dout[d] * v[d];
          c += key[d] * v[d];
        }
      }
      if (source.scale != nullptr) da *= source.scale[token.row];
      work.dz[j * heads + h] = da;
      work.c[j * heads + h] = c;
      work.mean[h] += weights[(j * rows + token.row) * heads + h] * da;
    }
  }
  for (int64_t j = 0; j < shape.sources; ++j) {
    for (int64_t h = 0; h < heads; ++h) {
      work.dz[j * heads + h] = weights[(j * rows + token.row) * heads + h] *
                               (work.dz[j * heads + h] - work.mean[h]);
    }
  }
}

/// What a slice of a token's source sends back: of dout, of the key, and of
/// itself.
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
  // NOLINTNEXTLINE(bugprone-branch-clone): it does not look into these loops.
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

/// dL/dv_j of one token.
template <typename Scalar>
LEADLINE_INLINE void BackwardValue(const RouteShape& shape, int64_t heads,
                                   const RouteSource<Scalar>& source, int64_t j,
                                   const Scalar* weights,
                                   const Token<Scalar>& token, Scalar r,
                                   const Scalar* value, const Scalar* before,
                                   Scalar* after,
                                   const Workspace<Scalar>& work) {
  const int64_t slice = shape.width / heads;
  const Scalar* const dz = work.dz.data() + j * heads;
  const Scalar* const c = work.c.data() + j * heads;
  // The norm is over the full width, so every head pulls on all of it.
  Scalar pull = 0;
  if (source.inverse_rms != nullptr) {
    pull = dz[0] * r * c[0];
    for (int64_t h = 1; h < heads; ++h) pull += dz[h] * r * c[h];
    pull = pull * r * r / static_cast<Scalar>(shape.width);
  }
  const Scalar scale =
      source.scale == nullptr ? Scalar{1} : source.scale[token.row];
  const Scalar* const a = weights + (j * shape.rows() + token.row) * heads;
  for (int64_t h = 0; h < heads; ++h) {
    const int64_t at = h * slice;
    SendBack(slice, Shares<Scalar>{a[h] * scale, dz[h] * r, pull},
             token.dout + at, token.key + at, value + at,
             before == nullptr ? nullptr : before + at, after + at);
  }
}

template <typename Scalar>
LEADLINE_INLINE void BackwardToken(const RouteShape& shape, int64_t heads,
                                   const RouteInput<Scalar>& input,
                                   const Scalar* weights,
                                   const Token<Scalar>& token,
                                   const RouteGradient<Scalar>& gradient,
                                   Workspace<Scalar>& work) {
  const int64_t width = shape.width;
  const int64_t slice = width / heads;
  LogitGradients(shape, heads, input, weights, token, work);
  for (int64_t j = 0; j < shape.sources; ++j) {
    const RouteSource<Scalar>& source = input.sources[j];
    const Scalar* const dz = work.dz.data() + j * heads;
    if (gradient.logits != nullptr) {
      Scalar& sum = gradient.logits[token.sequence * shape.sources + j];
      for (int64_t h = 0; h < heads; ++h) sum += dz[h];
    }
    if (source.value == nullptr) continue;
    const int64_t place = source.of_replica ? token.replica : token.row;
    const Scalar* const v = source.value + place * source.stride;
    const Scalar r =
        source.inverse_rms == nullptr ? Scalar{1} : source.inverse_rms[place];
    if (gradient.key != nullptr) {
      for (int64_t h = 0; h < heads; ++h) {
        Scalar* const dkey = gradient.key + token.sequence * width + h * slice;
        const Scalar* const part = v + h * slice;
        const Scalar share = dz[h] * r;
#pragma omp simd
        for (int64_t d = 0; d < slice; ++d) dkey[d] += share * part[d];
      }
    }
    if (gradient.after[j] == nullptr) continue;
    Scalar* const after =
        gradient.after[j] +
        (source.of_replica ? token.sequence : token.row) * width;
    const Scalar* const before = source.of_replica ? after
                                 : gradient.before[j] == nullptr
                                     ? nullptr
                                     : gradient.before[j] + token.row * width;
    BackwardValue(shape, heads, source, j, weights, token, r, v, before, after,
                  work);
  }
}

/// What a sequence's tokens are summed into starts from zero.
template <typename Scalar>
LEADLINE_INLINE void Clear(const RouteShape& shape,
                           const RouteInput<Scalar>& input, int64_t sequence,
                           const RouteGradient<Scalar>& gradient) {
  const int64_t width = shape.width;
  if (gradient.key != nullptr) {
    std::fill_n(gradient.key + sequence * width, width, Scalar{0});
  }
  if (gradient.logits != nullptr) {
    std::fill_n(gradient.logits + sequence * shape.sources, shape.sources,
                Scalar{0});
  }
  for (int64_t j = 0; j < shape.sources; ++j) {
    if (input.sources[j].of_replica && gradient.after[j] != nullptr) {
      std::fill_n(gradient.after[j] + sequence * width, width, Scalar{0});
    }
  }
}

template <typename Scalar>
LEADLINE_INLINE void Backward(const RouteShape& shape, int64_t heads,
                              const RouteInput<Scalar>& input,
                              const Scalar* weights, const Scalar* dout,
                              int64_t first, int64_t last,
                              const RouteGradient<Scalar>& gradient) {
  const int64_t cells = shape.sources * heads;
  Workspace<Scalar> work{std::vector<Scalar>(cells), std::vector<Scalar>(cells),
                         std::vector<Scalar>(heads)};
  const std::vector<Scalar> no_key(shape.width);
  for (int64_t sequence = first; sequence < last; ++sequence) {
    Clear(shape, input, sequence, gradient);
    const int64_t replica = sequence / shape.sequences_per_replica;
    const Scalar* const key = input.key == nullptr
                                  ? no_key.data()
                                  : input.key + replica * shape.key_stride;
    for (int64_t t = 0; t < shape.tokens; ++t) {
      const int64_t row = sequence * shape.tokens + t;
      BackwardToken(
          shape, heads, input, weights,
          Token<Scalar>{row, sequence, replica, key, dout + row * shape.width},
          gradient, work);
    }
  }
}

}  // namespace

LEADLINE_CPU_CLONES void RouteBackward(const RouteShape& shape,
                                       const RouteInput<float>& input,
                                       const float* weights, const float* dout,
                                       int64_t first, int64_t last,
                                       const RouteGradient<float>& gradient) {
  if (shape.heads == 1) {
    Backward(shape, 1, input, weights, dout, first, last, gradient);
  } else {
    Backward(shape, shape.heads, input, weights, dout, first, last, gradient);
  }
}

LEADLINE_CPU_CLONES void RouteBackward(const RouteShape& shape,
                                       const RouteInput<double>& input,
                                       const double* weights,
                                       const double* dout, int64_t first,
                                       int64_t last,
                                       const RouteGradient<double>& gradient) {
  if (shape.heads == 1) {
    Backward(shape, 1, input, weights, dout, first, last, gradient);
  } else {
    Backward(shape, shape.heads, input, weights, dout, first, last, gradient);
  }
}

}  // namespace leadline::model
