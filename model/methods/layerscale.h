// Branches behind a gate per coordinate (arXiv:2103.17239).

#pragma once

#include <memory>

#include "model/methods/method.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// h = h + lambda_l * u_l; `layerscale.lambda` [R, 2L, D] starts at `init`.
class LayerScale final : public ResidualMethod {
 public:
  LayerScale(const spec::Settings& settings, const MethodSizes& sizes,
             ParameterList& parameters);
  std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                   RouterObserver* observer) const override;

 private:
  torch::Tensor lambda_;
};

}  // namespace leadline::model
