// Learnt averages over the outputs of all layers so far (arXiv:2402.02622).

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/methods/method.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// After layer i the stream becomes sum_j a_{i,j} X_j with X_0 = e, X_{j+1} the
/// output of layer j before its average. `dwa.<i>` [R, J_i] starts at (0, ..,
/// 0, 1): prenorm. Options: dilation, period. A pass keeps L + 1 states.
class DenseFormer final : public ResidualMethod {
 public:
  DenseFormer(const spec::Settings& settings, const MethodSizes& sizes,
              ParameterList& parameters);
  std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                   RouterObserver* observer) const override;

 private:
  int64_t dilation_;
  std::vector<torch::Tensor> weights_RJ_;  // of each layer; undefined: none
};

}  // namespace leadline::model
