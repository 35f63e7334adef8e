// The pass of methods whose routers read block sums in the stream's stead.

#pragma once

#include <utility>

#include "model/methods/block_sources.h"
#include "model/methods/method.h"
#include "model/methods/routers.h"

namespace leadline::model {

/// x_l = route(e, sums of the blocks that the grid's window shows), and one
/// router more before the final norm.
class BlockRoutingPass final : public DepthPass {
 public:
  BlockRoutingPass(const torch::Tensor& x_RBTD, const BlockGrid& grid,
                   BlockBasis basis, double eps, RouterPass routers)
      : grid_(grid),
        sources_(x_RBTD, grid, {std::move(basis)}, eps),
        routers_(std::move(routers)) {}

  torch::Tensor Read(int64_t sublayer) override {
    std::vector<Candidate> candidates{{sources_.embedding()}};
    for (size_t b = grid_.first_read(sublayer); b < sources_.blocks().size();
         ++b) {
      candidates.push_back({sources_.blocks()[b][0]});
    }
    return routers_.Route(sublayer, candidates);
  }
  void Write(const torch::Tensor& update_RBTD, int64_t sublayer) override {
    sources_.Write(update_RBTD, sublayer);
  }
  torch::Tensor Finish() override { return Read(grid_.sublayers); }

 private:
  BlockGrid grid_;
  BlockSources sources_;
  RouterPass routers_;
};

}  // namespace leadline::model
