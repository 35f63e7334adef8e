// The feed-forward sublayer: wd . (silu(wg y) * (wu y)).
//
// Shape suffixes: R replicas, N tokens of all sequences, D width, F hidden
// width.

#pragma once

#include <cstdint>
#include <string>

#include <torch/torch.h>

#include "model/layers/shapes.h"
#include "model/parameters.h"

namespace leadline::model {

class SwiGlu {
 public:
  /// Declares `<prefix>.wg`, `.wu`, `.wd`.
  SwiGlu(const std::string& prefix, const LayerShape& shape,
         const MatrixStd& std, ParameterList& parameters);

  /// y [R, N, D] to [R, N, D], in shape.compute type.
  torch::Tensor Forward(const torch::Tensor& y_RND) const;

 private:
  torch::ScalarType type_;
  torch::Tensor wg_RDF_;
  torch::Tensor wu_RDF_;
  torch::Tensor wd_RFD_;
};

}  // namespace leadline::model
