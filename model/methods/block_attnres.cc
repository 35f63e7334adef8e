#include "model/methods/block_attnres.h"

namespace leadline::model {
namespace {

class Pass final : public DepthPass {
 public:
  Pass(const torch::Tensor& x_RBTD, const BlockGrid& grid, double eps,
       RouterPass routers)
      : readout_(grid.sublayers),
        sources_(x_RBTD, grid, {PlainBasis()}, eps),
        routers_(std::move(routers)) {}

  torch::Tensor Read(int64_t sublayer) override {
    std::vector<Candidate> candidates{{sources_.embedding()}};
    for (const std::vector<Source>& block : sources_.blocks()) {
      candidates.push_back({block[0]});
    }
    return routers_.Route(sublayer, candidates);
  }
  void Write(const torch::Tensor& update_RBTD, int64_t sublayer) override {
    sources_.Write(update_RBTD, sublayer);
  }
  torch::Tensor Finish() override { return Read(readout_); }

 private:
  int64_t readout_;
  BlockSources sources_;
  RouterPass routers_;
};

}  // namespace

BlockAttnRes::BlockAttnRes(const spec::Settings& settings,
                           const MethodSizes& sizes, ParameterList& parameters)
    : grid_{sizes.sublayers, settings.Integer("block_sublayers")},
      eps_(settings.Number("norm_eps")),
      routers_(settings, sizes.sublayers + 1, sizes.width, parameters) {}

std::unique_ptr<DepthPass> BlockAttnRes::Begin(const torch::Tensor& x_RBTD,
                                               RouterObserver* observer) const {
  return std::make_unique<Pass>(x_RBTD, grid_, eps_, routers_.Begin(observer));
}

double BlockAttnRes::StreamScale(int64_t sublayer) const {
  return 1.0 / static_cast<double>(1 + grid_.begun(sublayer));
}

}  // namespace leadline::model
