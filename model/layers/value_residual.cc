#include "model/layers/value_residual.h"

#include <utility>

namespace leadline::model {

using torch::Tensor;

Tensor ValuePass::Mix(const Tensor& v_RNC) {
  if (!active_) return v_RNC;
  if (!first_RNC_.defined()) {
    first_RNC_ = v_RNC;
    return v_RNC;
  }
  constexpr double kHalf = 0.5;
  const size_t i = layers_after_first_++;
  if (weights_.empty()) return (first_RNC_ + v_RNC) * kHalf;
  const Weights& weights = weights_.at(i);
  return first_RNC_ * weights.first + v_RNC * weights.own;
}

ValueResidual::ValueResidual(const spec::Settings& settings,
                             ParameterList& parameters)
    : active_(settings.Word("value_residual") != "off") {
  if (settings.Word("value_residual") != "learned") return;
  if (settings.depth() < 2) return;  // no layer takes part
  c_ = parameters.Constant("value_residual.c", {settings.depth() - 1, 2}, 0.5,
                           {.of_method = true});
}

ValuePass ValueResidual::Begin() const {
  if (!active_) return {};
  std::vector<ValuePass::Weights> weights;
  if (c_.defined()) {
    // Cut once: a slice's gradient is as large as the whole.
    const std::vector<Tensor> pairs = c_.unsqueeze(-1).unsqueeze(-1).unbind(1);
    for (const Tensor& pair_R211 : pairs) {
      const std::vector<Tensor> both = pair_R211.unbind(1);
      weights.push_back({both[0], both[1]});
    }
  }
  return ValuePass(std::move(weights));
}

}  // namespace leadline::model
