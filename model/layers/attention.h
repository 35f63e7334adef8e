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
#include "model/parameters.h"

namespace leadline::model {

class Attention {
 public:
  /// Declares `<prefix>.wq`, `.wk`, `.wv`, `.wo`; `out_std` is that of `wo`.
  Attention(const std::string& prefix, const LayerShape& shape, double std,
            double out_std, ParameterList& parameters);

  /// y [R, B, T, D] to [R, B, T, D], in the shape's compute type. Dropout site:
  /// `<prefix>.weights`.
  torch::Tensor Forward(const torch::Tensor& y_RBTD, const RotaryTable& table,
                        const Dropout& dropout) const;

 private:
  torch::Tensor Heads(const torch::Tensor& y_RND, const torch::Tensor& w,
                      torch::IntArrayRef sizes, bool normed,
                      const RotaryTable* table) const;

  std::string prefix_;
  LayerShape shape_;
  torch::Tensor wq_RDD_;
  torch::Tensor wk_RDC_;  // C = K * key/value heads
  torch::Tensor wv_RDC_;
  torch::Tensor wo_RDD_;
};

}  // namespace leadline::model
