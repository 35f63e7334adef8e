#include "model/methods/attnres.h"

#include <utility>

#include "model/methods/block_routing_pass.h"
#include "model/methods/state_sources.h"

namespace leadline::model {
namespace {

class StatesPass final : public DepthPass {
 public:
  StatesPass(const torch::Tensor& x_RBTD, const BlockGrid& grid, double eps,
             RouterPass routers)
      : grid_(grid), sources_(x_RBTD, eps), routers_(std::move(routers)) {}

  torch::Tensor Read(int64_t sublayer) override {
    const std::vector<Source>& states = sources_.states();
    std::vector<Candidate> candidates{{states[0]}};
    for (size_t i = 1 + grid_.first_read(sublayer); i < states.size(); ++i) {
      candidates.push_back({states[i]});
    }
    return routers_.Route(sublayer, candidates);
  }
  void Write(const torch::Tensor& update_RBTD, int64_t) override {
    sources_.Write(update_RBTD);
  }
  torch::Tensor Finish() override { return Read(grid_.sublayers); }

 private:
  BlockGrid grid_;
  StateSources sources_;
  RouterPass routers_;
};

}  // namespace

AttnRes::AttnRes(const spec::Settings& settings, const MethodSizes& sizes,
                 ParameterList& parameters)
    : grid_(MakeBlockGrid(settings, sizes.sublayers, 1)),
      of_states_(settings.Has("sources") &&
                 settings.Word("sources") == "states"),
      eps_(settings.Number("norm_eps")),
      routers_(settings, CountSources(grid_, 1), sizes.width, parameters) {}

std::unique_ptr<DepthPass> AttnRes::Begin(const torch::Tensor& x_RBTD,
                                          RouterObserver* observer) const {
  RouterPass routers = routers_.Begin(observer);
  if (of_states_) {
    return std::make_unique<StatesPass>(x_RBTD, grid_, eps_,
                                        std::move(routers));
  }
  return std::make_unique<BlockRoutingPass>(x_RBTD, grid_, UpdateBasis(), eps_,
                                            std::move(routers));
}

double AttnRes::StreamScale(int64_t sublayer) const {
  return 1.0 / static_cast<double>(1 + sublayer);
}

}  // namespace leadline::model
