#include "model/streams/sinkhorn_kernel.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "model/layers/simd.h"

namespace leadline::model {
namespace {

constexpr int64_t kLanes = 16;  // tokens side by side
constexpr int64_t kSteps = 2 * kSinkhornRounds;

/// Up to this spread of its logits a matrix is normalised itself: no entry can
/// get lost. Beyond it, its logarithms are. Both give the same numbers.
template <typename Scalar>
constexpr Scalar kSafeSpread = std::is_same_v<Scalar, float> ? 35 : 300;

/// The matrices of kLanes tokens after each half round, entry by entry: step,
/// row, column, lane. Step 0 is before the first.
template <typename Scalar>
class Rounds {
 public:
  explicit Rounds(int64_t streams)
      : m_(streams), entries_((kSteps + 1) * m_ * m_ * kLanes) {}

  /// `count` tokens from `logits` on; the other lanes repeat the first.
  LEADLINE_INLINE void Run(const Scalar* logits, int64_t count) {
    bool safe[kLanes];
    Load(logits, count, safe);
    for (int64_t step = 1; step <= kSteps; ++step) Normalise(step);
    for (int64_t lane = 0; lane < count; ++lane) {
      if (!safe[lane]) RunInLogarithms(logits + lane * m_ * m_, lane);
    }
  }

  LEADLINE_INLINE Scalar* At(int64_t step, int64_t row, int64_t column) {
    return entries_.data() + ((step * m_ + row) * m_ + column) * kLanes;
  }

  /// gradient -= matrix * (its sum over the axis that the step normalised).
  LEADLINE_INLINE void GoBack(int64_t step, Scalar* gradient) {
    const bool rows = step % 2 == 1;
    for (int64_t i = 0; i < m_; ++i) {
      Scalar sums[kLanes] = {};
      for (int64_t j = 0; j < m_; ++j) {
        const Scalar* const g = gradient + Place(rows, i, j);
#pragma omp simd
        for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += g[lane];
      }
      for (int64_t j = 0; j < m_; ++j) {
        Scalar* const g = gradient + Place(rows, i, j);
        const Scalar* const p = At(step, 0, 0) + Place(rows, i, j);
#pragma omp simd
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          g[lane] -= p[lane] * sums[lane];
        }
      }
    }
  }

 private:
  /// Entry j of line i, where lines are rows or columns.
  LEADLINE_INLINE int64_t Place(bool rows, int64_t i, int64_t j) const {
    return (rows ? i * m_ + j : j * m_ + i) * kLanes;
  }

  LEADLINE_INLINE void Load(const Scalar* logits, int64_t count, bool* safe) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const Scalar* const x =
          logits + (lane < count ? lane : int64_t{0}) * m_ * m_;
      const auto [least, most] = std::minmax_element(x, x + m_ * m_);
      safe[lane] = *most - *least <= kSafeSpread<Scalar>;
      for (int64_t i = 0; i < m_ * m_; ++i) {
        At(0, 0, 0)[i * kLanes + lane] = std::exp(x[i] - *most);
      }
    }
  }

  LEADLINE_INLINE void Normalise(int64_t step) {
    const bool rows = step % 2 == 1;
    const Scalar* const from = At(step - 1, 0, 0);
    Scalar* const to = At(step, 0, 0);
    for (int64_t i = 0; i < m_; ++i) {
      Scalar sums[kLanes] = {};
      for (int64_t j = 0; j < m_; ++j) {
        const Scalar* const p = from + Place(rows, i, j);
#pragma omp simd
        for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += p[lane];
      }
#pragma omp simd
      for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] = 1 / sums[lane];
      for (int64_t j = 0; j < m_; ++j) {
        const Scalar* const p = from + Place(rows, i, j);
        Scalar* const q = to + Place(rows, i, j);
#pragma omp simd
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          q[lane] = p[lane] * sums[lane];
        }
      }
    }
  }

  void RunInLogarithms(const Scalar* logits, int64_t lane) {
    std::vector<Scalar> x(logits, logits + m_ * m_);
    for (int64_t step = 1; step <= kSteps; ++step) {
      const bool rows = step % 2 == 1;
      for (int64_t i = 0; i < m_; ++i) {
        const auto entry = [&](int64_t j) -> Scalar& {
          return x[Place(rows, i, j) / kLanes];
        };
        Scalar most = entry(0);
        for (int64_t j = 1; j < m_; ++j) most = std::max(most, entry(j));
        Scalar sum = 0;
        for (int64_t j = 0; j < m_; ++j) sum += std::exp(entry(j) - most);
        const Scalar total = most + std::log(sum);
        for (int64_t j = 0; j < m_; ++j) {
          entry(j) -= total;
          At(step, 0, 0)[Place(rows, i, j) + lane] = std::exp(entry(j));
        }
      }
    }
  }

  int64_t m_;
  std::vector<Scalar> entries_;
};

template <typename Scalar>
LEADLINE_INLINE void Forward(int64_t streams, int64_t first, int64_t last,
                             const Scalar* logits, Scalar* balanced) {
  const int64_t size = streams * streams;
  Rounds<Scalar> rounds(streams);
  for (int64_t token = first; token < last; token += kLanes) {
    const int64_t count = std::min(kLanes, last - token);
    rounds.Run(logits + token * size, count);
    const Scalar* const end = rounds.At(kSteps, 0, 0);
    for (int64_t lane = 0; lane < count; ++lane) {
      for (int64_t i = 0; i < size; ++i) {
        balanced[(token + lane) * size + i] = end[i * kLanes + lane];
      }
    }
  }
}

// In logarithms a half round takes off a log-sum-exp, whose derivative is the
// normalised matrix itself.
template <typename Scalar>
LEADLINE_INLINE void Backward(int64_t streams, int64_t first, int64_t last,
                              const Scalar* logits, const Scalar* dbalanced,
                              Scalar* dlogits) {
  const int64_t size = streams * streams;
  Rounds<Scalar> rounds(streams);
  std::vector<Scalar> gradient(size * kLanes);
  for (int64_t token = first; token < last; token += kLanes) {
    const int64_t count = std::min(kLanes, last - token);
    rounds.Run(logits + token * size, count);
    const Scalar* const end = rounds.At(kSteps, 0, 0);
    std::fill(gradient.begin(), gradient.end(), Scalar{0});
    for (int64_t lane = 0; lane < count; ++lane) {
      for (int64_t i = 0; i < size; ++i) {
        gradient[i * kLanes + lane] =
            dbalanced[(token + lane) * size + i] * end[i * kLanes + lane];
      }
    }
    for (int64_t step = kSteps; step >= 1; --step) {
      rounds.GoBack(step, gradient.data());
    }
    for (int64_t lane = 0; lane < count; ++lane) {
      for (int64_t i = 0; i < size; ++i) {
        dlogits[(token + lane) * size + i] = gradient[i * kLanes + lane];
      }
    }
  }
}

}  // namespace

LEADLINE_CPU_CLONES void SinkhornForward(int64_t streams, int64_t first,
                                         int64_t last, const float* logits,
                                         float* balanced) {
  Forward(streams, first, last, logits, balanced);
}

LEADLINE_CPU_CLONES void SinkhornForward(int64_t streams, int64_t first,
                                         int64_t last, const double* logits,
                                         double* balanced) {
  Forward(streams, first, last, logits, balanced);
}

LEADLINE_CPU_CLONES void SinkhornBackward(int64_t streams, int64_t first,
                                          int64_t last, const float* logits,
                                          const float* dbalanced,
                                          float* dlogits) {
  Backward(streams, first, last, logits, dbalanced, dlogits);
}

LEADLINE_CPU_CLONES void SinkhornBackward(int64_t streams, int64_t first,
                                          int64_t last, const double* logits,
                                          const double* dbalanced,
                                          double* dlogits) {
  Backward(streams, first, last, logits, dbalanced, dlogits);
}

}  // namespace leadline::model
