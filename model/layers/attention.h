// The attention sublayer: causal, rotary, with query heads that may share keys
// and values.
//
// Shape suffixes: R replicas, B sequences, T tokens, D width, H heads, K head
// width.

#pragma once

#include <string>

#include <torch/torch.h>

#include "model/layers/dropout.h"
#include "model/layers/rotary.h"
#include "model/layers/shapes.h"
#include "model/layers/value_residual.h"
#include "model/parameters.h"

namespace leadline::model {

class Attention {
 public:
  /// Declares `<prefix>.wq`, `.wk`, `.wv`, `.wo`.
  Attention(const std::string& prefix, const LayerShape& shape,
            const MatrixStd& std, ParameterList& parameters);

  /// y [R, B, T, D] to [R, B, T, D], in the shape's compute type. Dropout site:
  /// `<prefix>.weights`. `values` may be null.
  torch::Tensor Forward(const torch::Tensor& y_RBTD, const RotaryTable& table,
                        const Dropout& dropout,
                        ValuePass* values = nullptr) const;

 private:
  /// [R, N, C] as heads [R*B, heads, T, K]; rotated if there is a table.
  torch::Tensor Heads(const torch::Tensor& x_RNC, torch::IntArrayRef sizes,
                      bool normed, const RotaryTable* table) const;

  std::string prefix_;
  LayerShape shape_;
  torch::Tensor wq_RDD_;
  torch::Tensor wk_RDC_;  // C = K * key/value heads
  torch::Tensor wv_RDC_;
  torch::Tensor wo_RDD_;
};

}  // namespace leadline::model
