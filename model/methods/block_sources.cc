#include "model/methods/block_sources.h"

#include <algorithm>
#include <utility>

namespace leadline::model {

BlockBasis PlainBasis() {
  return {"C", "P", [](int64_t, int64_t) { return 1.0; }};
}

BlockBasis UpdateBasis() {
  return {"u", "", [](int64_t, int64_t) { return 1.0; }};
}

BlockGrid MakeBlockGrid(const spec::Settings& settings, int64_t sublayers,
                        int64_t block_sublayers) {
  BlockGrid grid{.sublayers = sublayers, .block_sublayers = block_sublayers};
  if (const auto window = settings.NumberUnlessWord("window")) {
    grid.window = static_cast<int64_t>(*window);
  }
  return grid;
}

std::vector<int64_t> CountSources(const BlockGrid& grid, int64_t sums_a_block) {
  std::vector<int64_t> counts;
  for (int64_t l = 0; l <= grid.sublayers; ++l) {
    counts.push_back(1 + sums_a_block * grid.read(l));
  }
  return counts;
}

BlockBasis SplitBasis() {
  const auto sign = [](int64_t i, int64_t length) {
    if (i < length / 2) return 1.0;
    return i >= length - length / 2 ? -1.0 : 0.0;
  };
  return {"Dsig", "Psig", sign, {}, 2};
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
    if (grid_.length(b) < basis.shortest_block) continue;
    SignedSum sum;
    sum.label = finishes ? basis.finished + std::to_string(b) : basis.running;
    if (basis.signs_R.empty()) {
      sum.sign = basis.sign(i, grid_.length(b));
    } else {
      sum.sign_R = basis.signs_R.at(sublayer);
    }
    sums.push_back(std::move(sum));
  }
  if (i == 0) {
    blocks_.push_back(AddUpdate({}, update_RBTD, sums, eps_));
  } else {
    blocks_.back() = AddUpdate(blocks_.back(), update_RBTD, sums, eps_);
  }
}

}  // namespace leadline::model
