// The embedding table, one a replica, with a gradient whose sums have a fixed
// order.

#pragma once

#include <torch/torch.h>

namespace leadline::model {

/// Rows of table_RVD, [R, B, T, D]; tokens are int64 in [0, V). The gradient is
/// a product with one-hot rows for small vocabularies, a sorted scatter for
/// others; never atomic additions.
torch::Tensor Embed(const torch::Tensor& table_RVD,
                    const torch::Tensor& tokens_RBT);

}  // namespace leadline::model
