// The pass of methods whose routers add sums of blocks to the plain stream.

#pragma once

#include <utility>
#include <vector>

#include "model/methods/block_sources.h"
#include "model/methods/delta_routers.h"
#include "model/methods/method.h"

namespace leadline::model {

/// Blocks of which a router's last source is one, and which of them it reads.
struct DeltaBlocks {
  BlockGrid grid;
  bool with_partial = true;  // the running block is a source

  /// One past the newest block that router l reads.
  int64_t end(int64_t l) const {
    return with_partial ? grid.begun(l) : l / grid.block_sublayers;
  }
  /// Sources of each sublayer's router; the first does not route.
  std::vector<int64_t> Counts() const {
    std::vector<int64_t> counts{0};
    for (int64_t l = 1; l < grid.sublayers; ++l) {
      counts.push_back(1 + end(l) - grid.first_read(l));
    }
    return counts;
  }
};

/// x_l = h + route(e, sums of the blocks that the grid's window shows).
class DeltaBlockPass final : public DepthPass {
 public:
  DeltaBlockPass(const torch::Tensor& x_RBTD, const DeltaBlocks& blocks,
                 BlockBasis basis, double eps, DeltaStream stream)
      : blocks_(blocks),
        stream_(std::move(stream)),
        sources_(x_RBTD, blocks.grid, {std::move(basis)}, eps) {}

  torch::Tensor Read(int64_t sublayer) override {
    if (sublayer == 0) return stream_.value_RBTD();
    std::vector<Candidate> candidates{{sources_.embedding()}};
    for (int64_t b = blocks_.grid.first_read(sublayer);
         b < blocks_.end(sublayer); ++b) {
      candidates.push_back({sources_.blocks().at(b)[0]});
    }
    return stream_.Read(sublayer, candidates);
  }

  void Write(const torch::Tensor& update_RBTD, int64_t sublayer) override {
    stream_.Add(update_RBTD);
    if (sublayer + 1 == blocks_.grid.sublayers) return;  // nobody reads it
    sources_.Write(update_RBTD, sublayer);
  }

  torch::Tensor Finish() override { return stream_.value_RBTD(); }

 private:
  DeltaBlocks blocks_;
  DeltaStream stream_;
  BlockSources sources_;
};

}  // namespace leadline::model
