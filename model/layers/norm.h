// RMSNorm with a gain of each replica's own.
//
// Shape suffixes of this folder: R replicas, B sequences, T tokens, D width.

#pragma once

#include <torch/torch.h>

namespace leadline::model {

/// gain * x / sqrt(mean_d x^2 + eps) over the last axis. `gain_RD` may be
/// undefined: then it is one. The statistics are taken in x's own precision.
torch::Tensor RmsNorm(const torch::Tensor& x_RBTD, const torch::Tensor& gain_RD,
                      double eps);

}  // namespace leadline::model
