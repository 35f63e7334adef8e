// Block sums with two details each (arXiv:2606.06564 v1): how a block's sum
// came about, by kind of sublayer and by half.

#pragma once

#include <memory>

#include "model/methods/block_sources.h"
#include "model/methods/method.h"
#include "model/methods/routers.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// As BlockAttnRes; after each block's sum C its details Dphi (attention minus
/// feed-forward) and Dsig (first half minus second), with logit bias
/// `wav.beta` and values scaled, without gradient, by min(rms(C)/rms(D), rho).
/// The readout sees no details. A pass keeps 6L tensors [R, B, T, D].
class Wav final : public ResidualMethod {
 public:
  Wav(const spec::Settings& settings, const MethodSizes& sizes,
      ParameterList& parameters);
  std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                   RouterObserver* observer) const override;
  double StreamScale(int64_t sublayer) const override;

 private:
  std::vector<torch::Tensor> Biases() const;

  BlockGrid grid_;
  double eps_;
  double rho_;
  Routers routers_;
  torch::Tensor beta_;  // [R, n, 2] or [R, 2]; undefined: no details
};

}  // namespace leadline::model
