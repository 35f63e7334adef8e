// Linear maps without bias, a matrix a replica.

#pragma once

#include <torch/torch.h>

namespace leadline::model {

/// x [R, N, I] times w_RIO, as one batched product over the replicas. The
/// inputs are rounded to `type` (bfloat16: sums are kept in float32 inside the
/// product); the result has that type.
torch::Tensor Linear(const torch::Tensor& x_RNI, const torch::Tensor& w_RIO,
                     torch::ScalarType type);

}  // namespace leadline::model
