// Parallel residual streams: what a sublayer reads from them, and how they take
// up its update.
//
// Shape suffixes: R replicas, B sequences, T tokens, M streams, D width, C =
// M + 2 coefficients of each stream. Row s of coefficients_RBTMC holds pre_s,
// A_{s,1..M} (from stream s, to stream t) and post_s.

#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace leadline::model {

/// sum_s pre_s h_s, [R, B, T, D].
torch::Tensor ReadStreams(const torch::Tensor& h_RBTMD,
                          const torch::Tensor& coefficients_RBTMC);

/// Stream t becomes sum_s A_{s,t} h_s + post_t u. Autograd keeps the three
/// arguments by reference, no products of them.
torch::Tensor MixStreams(const torch::Tensor& h_RBTMD,
                         const torch::Tensor& update_RBTD,
                         const torch::Tensor& coefficients_RBTMC);

}  // namespace leadline::model
