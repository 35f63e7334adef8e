#include "model/methods/rezero.h"

#include "model/methods/scaled_pass.h"

namespace leadline::model {

ReZero::ReZero(const spec::Settings& settings, const MethodSizes& sizes,
               ParameterList& parameters)
    : normed_(settings.IsOn("norm")),
      sublayers_per_scale_(settings.Word("per") == "layer" ? 2 : 1),
      alpha_(parameters.Constant("rezero.alpha",
                                 {sizes.sublayers / sublayers_per_scale_}, 0,
                                 {.of_method = true})) {}

std::unique_ptr<DepthPass> ReZero::Begin(const torch::Tensor& x_RBTD,
                                         RouterObserver*) const {
  return std::make_unique<ScaledPass>(
      x_RBTD, alpha_.unsqueeze(-1).unsqueeze(-1).unsqueeze(-1).unbind(1),
      sublayers_per_scale_);
}

NormPlacement ReZero::norms() const { return {.before_sublayers = normed_}; }

}  // namespace leadline::model
