// Sums of sources with weights that are the same for every token.
//
// Shape suffixes: R replicas, B sequences, T tokens, D width, J sources.

#pragma once

#include <vector>

#include <torch/torch.h>

#include "model/router/source.h"

namespace leadline::model {

/// out = sum_j w_j v_j in list order, [R, B, T, D]; `weights_RJ` is contiguous.
/// Keeps references to the sources, never copies; gradients of the sources go
/// to their own buffers, as those of routers do.
torch::Tensor WeightedSum(const std::vector<Source>& sources,
                          const torch::Tensor& weights_RJ);

}  // namespace leadline::model
