// Products of normalised vectors with a thin matrix.
//
// Shape suffixes: R replicas, N vectors, D width, C columns.

#pragma once

#include <torch/torch.h>

namespace leadline::model {

/// norm(x) w with norm(x) = x / sqrt(mean_d x^2 + eps), [R, N, C]. Autograd
/// keeps x by reference; no normalised copy of it is ever made.
torch::Tensor NormedProjection(const torch::Tensor& x_RND,
                               const torch::Tensor& w_RDC, double eps);

}  // namespace leadline::model
