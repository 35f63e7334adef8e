// Attention over the sums of blocks of sublayers (arXiv:2603.15031, eq. 5-6).

#pragma once

#include <memory>

#include "model/methods/block_sources.h"
#include "model/methods/method.h"
#include "model/methods/routers.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// x_l = route(e, sums of finished blocks, sum of the running block if it has
/// begun), and one more router before the final norm. Queries start at zero:
/// then the network computes what plain pre-norm does. A pass keeps every
/// running sum, 2L tensors [R, B, T, D].
class BlockAttnRes final : public ResidualMethod {
 public:
  BlockAttnRes(const spec::Settings& settings, const MethodSizes& sizes,
               ParameterList& parameters);
  std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                   RouterObserver* observer) const override;
  double StreamScale(int64_t sublayer) const override;

 private:
  BlockGrid grid_;
  double eps_;
  Routers routers_;
};

}  // namespace leadline::model
