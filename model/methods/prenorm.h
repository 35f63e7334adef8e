// Plain residuals: one running sum.

#pragma once

#include <memory>

#include "model/methods/method.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// h = h + u_l. No parameters of its own.
class PreNorm final : public ResidualMethod {
 public:
  PreNorm(const spec::Settings& settings, const MethodSizes& sizes,
          ParameterList& parameters);
  std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                   RouterObserver* observer) const override;
};

}  // namespace leadline::model
