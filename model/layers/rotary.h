// Rotary positions: pairs (i, i + K/2) of a head turn by t * theta^(-2i/K).

#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace leadline::model {

/// Cosines and sines of all angles, [T, K/2] each, computed in double.
struct RotaryTable {
  torch::Tensor cosine_TK;
  torch::Tensor sine_TK;
};

RotaryTable MakeRotaryTable(int64_t tokens, int64_t head_width, double theta,
                            const torch::TensorOptions& options);

/// Turns x [N, T, H, K] by its position along T.
torch::Tensor Rotate(const torch::Tensor& x_NTHK, const RotaryTable& table);

}  // namespace leadline::model
