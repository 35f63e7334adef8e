// What the code released with arXiv:2605.18855 computes: alternating partial
// sums, not sums of blocks. For comparisons with its figures only.

#pragma once

#include <memory>

#include "model/methods/block_sources.h"
#include "model/methods/delta_routers.h"
#include "model/methods/method.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// As DeltaBlock, with sources h_0 and, where layer i > 0 begins a block,
/// h minus the last source, there from the layer's second sublayer on.
class DeltaBlockRepo final : public ResidualMethod {
 public:
  DeltaBlockRepo(const spec::Settings& settings, const MethodSizes& sizes,
                 ParameterList& parameters);
  std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                   RouterObserver* observer) const override;
  double StreamScale(int64_t sublayer) const override {
    return routers_.StreamScale(sublayer);
  }

 private:
  BlockGrid grid_;
  double eps_;
  DeltaRouters routers_;
};

}  // namespace leadline::model
