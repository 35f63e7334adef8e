// Branches behind a gate per coordinate that the sublayers of a block share.
// Named as a baseline in arXiv:2606.06564 v1, which does not define it.

#pragma once

#include <memory>

#include "model/methods/block_sources.h"
#include "model/methods/method.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// h = h + lambda_b * u_l, b = floor(l / S); `block_layerscale.lambda`
/// [R, N, D] starts at `init`.
class BlockLayerScale final : public ResidualMethod {
 public:
  BlockLayerScale(const spec::Settings& settings, const MethodSizes& sizes,
                  ParameterList& parameters);
  std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                   RouterObserver* observer) const override;

 private:
  BlockGrid grid_;
  torch::Tensor lambda_;
};

}  // namespace leadline::model
