#include "model/methods/block_sources.h"

#include <algorithm>
#include <utility>

namespace leadline::model {

BlockBasis PlainBasis() {
  return {"C", "P", [](int64_t, int64_t) { return 1.0; }};
}

int64_t BlockGrid::length(int64_t b) const {
  return std::min(block_sublayers, sublayers - b * block_sublayers);
}

BlockSources::BlockSources(const torch::Tensor& x_RBTD, const BlockGrid& grid,
                           std::vector<BlockBasis> bases, double eps)
    : grid_(grid),
      bases_(std::move(bases)),
      eps_(eps),
      embedding_(MakeSource(x_RBTD, eps, "e")) {}

void BlockSources::Write(const torch::Tensor& update_RBTD, int64_t sublayer) {
  const int64_t b = sublayer / grid_.block_sublayers;
  const int64_t i = sublayer % grid_.block_sublayers;
  // A short last block never counts as finished: its partial stands for it.
  const bool finishes = i + 1 == grid_.block_sublayers;
  std::vector<SignedSum> sums;
  for (const BlockBasis& basis : bases_) {
    sums.push_back(
        {basis.sign(i, grid_.length(b)),
         finishes ? basis.finished + std::to_string(b) : basis.running});
  }
  if (i == 0) {
    blocks_.push_back(AddUpdate({}, update_RBTD, sums, eps_));
  } else {
    blocks_.back() = AddUpdate(blocks_.back(), update_RBTD, sums, eps_);
  }
}

}  // namespace leadline::model
