// The loops of Sinkhorn's normalisation over plain pointers, for float and
// double. Small square matrices, one a token.

#pragma once

#include <cstdint>

namespace leadline::model {

/// Rounds of rows, then columns.
inline constexpr int64_t kSinkhornRounds = 20;

/// `balanced` gets the matrices after the last round, for tokens [first, last);
/// `logits` are those of the matrices before the first, row s, column t.
void SinkhornForward(int64_t streams, int64_t first, int64_t last,
                     const float* logits, float* balanced);
void SinkhornForward(int64_t streams, int64_t first, int64_t last,
                     const double* logits, double* balanced);

/// Runs the rounds again and goes back through them.
void SinkhornBackward(int64_t streams, int64_t first, int64_t last,
                      const float* logits, const float* dbalanced,
                      float* dlogits);
void SinkhornBackward(int64_t streams, int64_t first, int64_t last,
                      const double* logits, const double* dbalanced,
                      double* dlogits);

}  // namespace leadline::model
