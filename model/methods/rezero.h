// Branches behind a scalar gate that starts closed (arXiv:2003.04887).

#pragma once

#include <memory>

#include "model/methods/method.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// h = h + alpha_l u_l; `rezero.alpha` [R, 2L], or [R, L] with per = layer,
/// starts at 0. norm = off: sublayers read h itself.
class ReZero final : public ResidualMethod {
 public:
  ReZero(const spec::Settings& settings, const MethodSizes& sizes,
         ParameterList& parameters);
  std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                   RouterObserver* observer) const override;
  NormPlacement norms() const override;

 private:
  bool normed_;
  int64_t sublayers_per_scale_;
  torch::Tensor alpha_;
};

}  // namespace leadline::model
