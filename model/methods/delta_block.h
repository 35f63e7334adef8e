// The plain stream plus attention over sums of blocks of updates
// (arXiv:2605.18855).

#pragma once

#include <memory>

#include "model/methods/delta_block_pass.h"
#include "model/methods/delta_routers.h"
#include "model/methods/method.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// x_l = h + route(e, sums of finished blocks, sum of the running block if it
/// has begun); the first sublayer reads e, and the final norm h. A pass keeps
/// 2L tensors [R, B, T, D].
class DeltaBlock : public ResidualMethod {
 public:
  DeltaBlock(const spec::Settings& settings, const MethodSizes& sizes,
             ParameterList& parameters)
      : DeltaBlock(settings, sizes, parameters, true) {}
  std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                   RouterObserver* observer) const override;
  double StreamScale(int64_t sublayer) const override {
    return routers_.StreamScale(sublayer);
  }

 protected:
  DeltaBlock(const spec::Settings& settings, const MethodSizes& sizes,
             ParameterList& parameters, bool with_partial);

 private:
  DeltaBlocks blocks_;
  double eps_;
  DeltaRouters routers_;
};

/// The same without the running block among the sources. A pass keeps 2L / S.
class DeltaBlockNoPartial final : public DeltaBlock {
 public:
  DeltaBlockNoPartial(const spec::Settings& settings, const MethodSizes& sizes,
                      ParameterList& parameters)
      : DeltaBlock(settings, sizes, parameters, false) {}
};

}  // namespace leadline::model
