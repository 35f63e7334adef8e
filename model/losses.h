// What a decoder's logits are worth.

#pragma once

#include <torch/torch.h>

namespace leadline::model {

/// -ln p(target) of every token in nats, [R, B, T], in float32 or (for float64
/// logits) float64. Targets are int64 in [0, V).
torch::Tensor TokenLosses(const torch::Tensor& logits_RBTV,
                          const torch::Tensor& targets_RBT);

}  // namespace leadline::model
