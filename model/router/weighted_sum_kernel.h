// The loops of a weighted sum over plain pointers, for float and double.

#pragma once

#include <cstdint>
#include <vector>

namespace leadline::model {

/// `sources` lists of sequences x tokens x width; sequence i belongs to replica
/// i / sequences_per_replica. Weights [R, sources].
struct SumShape {
  int64_t sources = 0;
  int64_t sequences_per_replica = 1;
  int64_t tokens = 0;
  int64_t width = 0;
};

/// For sequences [first, last).
void SumForward(const SumShape& shape, const std::vector<const float*>& values,
                const float* weights, int64_t first, int64_t last, float* out);
void SumForward(const SumShape& shape, const std::vector<const double*>& values,
                const double* weights, int64_t first, int64_t last,
                double* out);

template <typename Scalar>
struct SumGradient {
  std::vector<const Scalar*> before;  // null: nothing to add to
  std::vector<Scalar*> after;  // null: not wanted; may be the same as before
  Scalar* weights = nullptr;   // [sequences, sources]
};

void SumBackward(const SumShape& shape, const std::vector<const float*>& values,
                 const float* weights, const float* dout, int64_t first,
                 int64_t last, const SumGradient<float>& gradient);
void SumBackward(const SumShape& shape,
                 const std::vector<const double*>& values,
                 const double* weights, const double* dout, int64_t first,
                 int64_t last, const SumGradient<double>& gradient);

}  // namespace leadline::model
