// The router's loops over plain pointers: a token's sources are read once, and
// stay in the cache for the second use.

#pragma once

#include <cstdint>
#include <vector>

namespace leadline::model {

/// J sources, each sequences x tokens x width, cut into `heads` slices of equal
/// width with a softmax each; sequence i belongs to replica
/// i / sequences_per_replica. Rows of the key, one a replica, lie `key_stride`
/// apart.
struct RouteShape {
  int64_t sources = 0;
  int64_t heads = 1;
  int64_t sequences = 0;
  int64_t sequences_per_replica = 1;
  int64_t tokens = 0;
  int64_t width = 0;
  int64_t key_stride = 0;

  int64_t rows() const { return sequences * tokens; }
};

/// One source. `value` has a vector a token; with `of_replica` one a replica,
/// `stride` apart; null: zero, for which the key has no product.
template <typename Scalar>
struct RouteSource {
  const Scalar* value = nullptr;
  const Scalar* inverse_rms = nullptr;  // null: the key is not normalised
  const Scalar* scale = nullptr;        // one a token; null: 1
  const Scalar* bias = nullptr;         // one a replica; null: no bias
  int64_t bias_stride = 0;
  int64_t stride = 0;
  bool of_replica = false;
};

/// One router.
template <typename Scalar>
struct RouteInput {
  std::vector<RouteSource<Scalar>> sources = {};  // J
  const Scalar* key = nullptr;  // [R, D]; null: logits are biases
};

/// out [.., D] and weights [J, sequences, tokens, heads], for sequences [first,
/// last).
void RouteForward(const RouteShape& shape, const RouteInput<float>& input,
                  int64_t first, int64_t last, float* out, float* weights);
void RouteForward(const RouteShape& shape, const RouteInput<double>& input,
                  int64_t first, int64_t last, double* out, double* weights);

/// Where a backward pass writes. Of a source with one value a replica, `after`
/// is [sequences, D] and `before` null.
template <typename Scalar>
struct RouteGradient {
  std::vector<const Scalar*> before;  // J; null: nothing to add to
  std::vector<Scalar*> after;  // J; null: not wanted; may be the same as before
  Scalar* key = nullptr;       // [sequences, D]; null: not wanted
  Scalar* logits = nullptr;  // [sequences, J], dL/dz summed over tokens, heads
};

void RouteBackward(const RouteShape& shape, const RouteInput<float>& input,
                   const float* weights, const float* dout, int64_t first,
                   int64_t last, const RouteGradient<float>& gradient);
void RouteBackward(const RouteShape& shape, const RouteInput<double>& input,
                   const double* weights, const double* dout, int64_t first,
                   int64_t last, const RouteGradient<double>& gradient);

}  // namespace leadline::model
