// Norms after each sum, of a stream that outweighs its updates
// (arXiv:2203.00555).

#pragma once

#include <memory>
#include <vector>

#include "model/methods/method.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// h = norm((2L)^(1/4) h + u_l, g_l), without norms before sublayers and head.
/// The gains are the layers' own: `layers.<i>.attn.norm.g`, `.mlp.norm.g`.
class DeepNorm final : public ResidualMethod {
 public:
  DeepNorm(const spec::Settings& settings, const MethodSizes& sizes,
           ParameterList& parameters);
  std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                   RouterObserver* observer) const override;
  NormPlacement norms() const override {
    return {.before_sublayers = false, .before_head = false};
  }
  /// (8L)^(1/4).
  double branch_divisor() const override;

 private:
  double alpha_;
  double eps_;
  std::vector<torch::Tensor> gains_RD_;  // of each sublayer
};

}  // namespace leadline::model
