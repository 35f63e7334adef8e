// Tensors by their bits.

#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace leadline::trainer {

/// Of all its values, wherever they are: the first 60 bits of their SHA-256, so
/// that hashes can travel as numbers of either sign.
int64_t HashOf(const torch::Tensor& tensor);

}  // namespace leadline::trainer
