// The plain stream plus attention over all updates (arXiv:2605.18855).

#pragma once

#include <memory>

#include "model/methods/delta_block_pass.h"
#include "model/methods/delta_routers.h"
#include "model/methods/method.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// x_l = h + route(e, u_0, ..., u_{l-1}); the first sublayer reads e, and the
/// final norm h: DeltaBlock with blocks of one sublayer. sources = states: the
/// sources are the streams before sublayers 0..l. A pass keeps 2L tensors
/// [R, B, T, D].
class DeltaAttnRes final : public ResidualMethod {
 public:
  DeltaAttnRes(const spec::Settings& settings, const MethodSizes& sizes,
               ParameterList& parameters);
  std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                   RouterObserver* observer) const override;
  double StreamScale(int64_t sublayer) const override {
    return routers_.StreamScale(sublayer);
  }

 private:
  DeltaBlocks updates_;  // of one sublayer each
  double eps_;
  bool of_states_;
  DeltaRouters routers_;
};

}  // namespace leadline::model
