// Matrices with equal sums of rows and of columns, nearly.
//
// Shape suffixes: R replicas, B sequences, T tokens, M streams.

#pragma once

#include <torch/torch.h>

namespace leadline::model {

/// Sinkhorn's normalisation of exp(logits), [.., M, M]: 20 rounds, each of rows
/// (over the last axis), then columns, as if in logarithms. The last step makes
/// the sums of columns 1; those of rows are 1 only in the limit. Autograd keeps
/// the logits alone.
torch::Tensor Sinkhorn(const torch::Tensor& logits_RBTMM);

}  // namespace leadline::model
