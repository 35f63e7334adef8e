// The sources of block methods: the embeddings, and for each block of sublayers
// begun so far the running sums of its updates.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "model/router/source.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// One signed sum over a block's updates.
struct BlockBasis {
  std::string finished;  // label before the block's number: "C", "Dphi"
  std::string running;   // label of the unfinished block's: "P", "Pphi"
  /// Sign of position i in a block of `length` sublayers.
  double (*sign)(int64_t i, int64_t length) = nullptr;
  /// Signs of each replica's own, one tensor a sublayer; empty: `sign`.
  std::vector<torch::Tensor> signs_R = {};
  /// Shorter blocks lack this sum.
  int64_t shortest_block = 1;
};

/// +1 everywhere: the block's sum itself.
BlockBasis PlainBasis();
/// The same under the name of a single update, for blocks of one sublayer.
BlockBasis UpdateBasis();

/// +1 in the first half, -1 in the second, 0 in the middle of an odd length. A
/// block of one has no halves.
BlockBasis SplitBasis();

/// Where blocks begin and end: S sublayers each, the last one may be short; and
/// which of them routers read.
struct BlockGrid {
  int64_t sublayers = 0;        // n
  int64_t block_sublayers = 1;  // S
  /// Finished blocks that a router reads at most, the newest.
  int64_t window = std::numeric_limits<int64_t>::max();

  int64_t blocks() const {
    return (sublayers + block_sublayers - 1) / block_sublayers;
  }
  /// m_b, the sublayers really in block b.
  int64_t length(int64_t b) const;
  /// Blocks begun before sublayer l reads, finished or running.
  int64_t begun(int64_t l) const {
    return (l + block_sublayers - 1) / block_sublayers;
  }
  /// The oldest block that is read before sublayer l; all begun since are too.
  int64_t first_read(int64_t l) const {
    return std::max<int64_t>(0, l / block_sublayers - window);
  }
  /// Blocks that are read before sublayer l.
  int64_t read(int64_t l) const { return begun(l) - first_read(l); }
};

/// The grid that option `window` makes of blocks of that length.
BlockGrid MakeBlockGrid(const spec::Settings& settings, int64_t sublayers,
                        int64_t block_sublayers);

/// What each router reads: the embeddings and `sums_a_block` of each block; one
/// router a sublayer and one before the final norm.
std::vector<int64_t> CountSources(const BlockGrid& grid, int64_t sums_a_block);

class BlockSources {
 public:
  BlockSources(const torch::Tensor& x_RBTD, const BlockGrid& grid,
               std::vector<BlockBasis> bases, double eps);

  void Write(const torch::Tensor& update_RBTD, int64_t sublayer);

  const Source& embedding() const { return embedding_; }
  /// For each block begun, finished ones first, its sums in the order of the
  /// bases it has. An unfinished block without updates is absent.
  const std::vector<std::vector<Source>>& blocks() const { return blocks_; }

 private:
  BlockGrid grid_;
  std::vector<BlockBasis> bases_;
  double eps_;
  Source embedding_;
  std::vector<std::vector<Source>> blocks_;
};

}  // namespace leadline::model
