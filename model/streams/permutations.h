// All permutation matrices of a few streams.

#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace leadline::model {

/// [M!, M, M]: the permutations p_k of 0..M-1 in lexicographic order, the
/// identity first; entry [k, s, p_k(s)] is 1, all others are 0.
torch::Tensor PermutationMatrices(int64_t streams);

}  // namespace leadline::model
