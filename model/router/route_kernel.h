// The router's loops over plain pointers: a token's sources are read once, and
// stay in the cache for the second use.

#pragma once

#include <cstdint>
#include <vector>

namespace leadline::model {

/// J sources, each sequences x tokens x width; sequence i belongs to replica
/// i / sequences_per_replica. Rows of key and bias, one a replica, lie
/// `key_stride` and `bias_stride` apart.
struct RouteShape {
  int64_t sources = 0;
  int64_t sequences = 0;
  int64_t sequences_per_replica = 1;
  int64_t tokens = 0;
  int64_t width = 0;
  int64_t key_stride = 0;
  int64_t bias_stride = 0;
};

/// Pointers of one router; those in lists are one a source.
template <typename Scalar>
struct RouteInput {
  std::vector<const Scalar*> values;
  std::vector<const Scalar*> inverse_rms;  // null: the key is not normalised
  std::vector<const Scalar*> scales;       // null: scale 1
  std::vector<int64_t> bias_columns;       // -1: no bias
  const Scalar* key = nullptr;             // [R, D]; null: logits are biases
  const Scalar* bias = nullptr;            // [R, C]
};

/// out [.., D] and weights [J, sequences, tokens], for sequences [first, last).
void RouteForward(const RouteShape& shape, const RouteInput<float>& input,
                  int64_t first, int64_t last, float* out, float* weights);
void RouteForward(const RouteShape& shape, const RouteInput<double>& input,
                  int64_t first, int64_t last, double* out, double* weights);

template <typename Scalar>
struct RouteGradient {
  std::vector<const Scalar*> before;  // null: nothing to add to
  std::vector<Scalar*> after;  // null: not wanted; may be the same as before
  Scalar* key = nullptr;       // [sequences, D]; null: not wanted
  Scalar* logits = nullptr;    // [sequences, J], dL/dz summed over tokens
};

void RouteBackward(const RouteShape& shape, const RouteInput<float>& input,
                   const float* weights, const float* dout, int64_t first,
                   int64_t last, const RouteGradient<float>& gradient);
void RouteBackward(const RouteShape& shape, const RouteInput<double>& input,
                   const double* weights, const double* dout, int64_t first,
                   int64_t last, const RouteGradient<double>& gradient);

}  // namespace leadline::model
