// The turn of rotary positions over plain pointers, for float and double.

#pragma once

#include <cstdint>

namespace leadline::model {

/// For tokens [first, last) of sequences of `tokens`, each with `heads` vectors
/// of 2 * half numbers: turns pairs (i, i + half) by the angle whose cosine and
/// sine are number t * half + i, and by -angle for `sign` = -1.
struct TurnShape {
  int64_t tokens = 0;
  int64_t heads = 0;
  int64_t half = 0;
};

void Turn(const TurnShape& shape, int64_t first, int64_t last, double sign,
          const float* cosine, const float* sine, const float* x, float* y);
void Turn(const TurnShape& shape, int64_t first, int64_t last, double sign,
          const double* cosine, const double* sine, const double* x, double* y);

}  // namespace leadline::model
