#include "model/methods/block_attnres.h"

#include "model/methods/block_routing_pass.h"

namespace leadline::model {

BlockAttnRes::BlockAttnRes(const spec::Settings& settings,
                           const MethodSizes& sizes, ParameterList& parameters)
    : grid_(MakeBlockGrid(settings, sizes.sublayers,
                          settings.Integer("block_sublayers"))),
      eps_(settings.Number("norm_eps")),
      routers_(settings, CountSources(grid_, 1), sizes.width, parameters) {}

std::unique_ptr<DepthPass> BlockAttnRes::Begin(const torch::Tensor& x_RBTD,
                                               RouterObserver* observer) const {
  return std::make_unique<BlockRoutingPass>(x_RBTD, grid_, PlainBasis(), eps_,
                                            routers_.Begin(observer));
}

double BlockAttnRes::StreamScale(int64_t sublayer) const {
  return 1.0 / static_cast<double>(1 + grid_.begun(sublayer));
}

}  // namespace leadline::model
