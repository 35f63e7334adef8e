#include "model/methods/layerscale.h"

#include "model/methods/scaled_pass.h"

namespace leadline::model {

LayerScale::LayerScale(const spec::Settings& settings, const MethodSizes& sizes,
                       ParameterList& parameters)
    : lambda_(parameters.Constant(
          "layerscale.lambda", {sizes.sublayers, sizes.width},
          settings.Number("init"), {.of_method = true})) {}

std::unique_ptr<DepthPass> LayerScale::Begin(const torch::Tensor& x_RBTD,
                                             RouterObserver*) const {
  return std::make_unique<ScaledPass>(
      x_RBTD, lambda_.unsqueeze(2).unsqueeze(2).unbind(1), 1);
}

}  // namespace leadline::model
