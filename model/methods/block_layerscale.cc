#include "model/methods/block_layerscale.h"

#include "model/methods/scaled_pass.h"

namespace leadline::model {

BlockLayerScale::BlockLayerScale(const spec::Settings& settings,
                                 const MethodSizes& sizes,
                                 ParameterList& parameters)
    : grid_{sizes.sublayers, settings.Integer("block_sublayers")},
      lambda_(parameters.Constant(
          "block_layerscale.lambda", {grid_.blocks(), sizes.width},
          settings.Number("init"), {.of_method = true})) {}

std::unique_ptr<DepthPass> BlockLayerScale::Begin(const torch::Tensor& x_RBTD,
                                                  RouterObserver*) const {
  return std::make_unique<ScaledPass>(
      x_RBTD, lambda_.unsqueeze(2).unsqueeze(2).unbind(1),
      grid_.block_sublayers);
}

}  // namespace leadline::model
