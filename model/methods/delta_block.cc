#include "model/methods/delta_block.h"

namespace leadline::model {

DeltaBlock::DeltaBlock(const spec::Settings& settings, const MethodSizes& sizes,
                       ParameterList& parameters, bool with_partial)
    : blocks_{MakeBlockGrid(settings, sizes.sublayers,
                            settings.Integer("block_sublayers")),
              with_partial},
      eps_(settings.Number("norm_eps")),
      routers_(settings, blocks_.Counts(), sizes.width, parameters) {}

std::unique_ptr<DepthPass> DeltaBlock::Begin(const torch::Tensor& x_RBTD,
                                             RouterObserver* observer) const {
  return std::make_unique<DeltaBlockPass>(x_RBTD, blocks_, PlainBasis(), eps_,
                                          routers_.Begin(x_RBTD, observer));
}

}  // namespace leadline::model
