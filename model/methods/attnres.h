// Attention over every update (arXiv:2603.15031, eq. 2-4).

#pragma once

#include <memory>

#include "model/methods/block_sources.h"
#include "model/methods/method.h"
#include "model/methods/routers.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// x_l = route(e, u_0, ..., u_{l-1}), and one more router before the final
/// norm: BlockAttnRes with blocks of one sublayer. With `sources = states` the
/// sources are the stream's states hs_0 = e, ..., hs_l in the updates' stead.
/// A pass keeps 2L tensors [R, B, T, D].
class AttnRes final : public ResidualMethod {
 public:
  AttnRes(const spec::Settings& settings, const MethodSizes& sizes,
          ParameterList& parameters);
  std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                   RouterObserver* observer) const override;
  double StreamScale(int64_t sublayer) const override;

 private:
  BlockGrid grid_;  // of one sublayer each
  bool of_states_;
  double eps_;
  Routers routers_;
};

}  // namespace leadline::model
