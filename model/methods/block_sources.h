// The sources of block methods: the embeddings, and for each block of sublayers
// begun so far the running sums of its updates.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "model/router/source.h"

namespace leadline::model {

/// One signed sum over a block's updates.
struct BlockBasis {
  std::string finished;  // label before the block's number: "C", "Dphi"
  std::string running;   // label of the unfinished block's: "P", "Pphi"
  /// Sign of position i in a block of `length` sublayers.
  double (*sign)(int64_t i, int64_t length) = nullptr;
};

/// +1 everywhere: the block's sum itself.
BlockBasis PlainBasis();

/// Where blocks begin and end: S sublayers each, the last one may be short.
struct BlockGrid {
  int64_t sublayers = 0;        // n
  int64_t block_sublayers = 1;  // S

  int64_t blocks() const {
    return (sublayers + block_sublayers - 1) / block_sublayers;
  }
  /// m_b, the sublayers really in block b.
  int64_t length(int64_t b) const;
  /// Blocks begun before sublayer l reads, finished or running.
  int64_t begun(int64_t l) const {
    return (l + block_sublayers - 1) / block_sublayers;
  }
};

class BlockSources {
 public:
  BlockSources(const torch::Tensor& x_RBTD, const BlockGrid& grid,
               std::vector<BlockBasis> bases, double eps);

  void Write(const torch::Tensor& update_RBTD, int64_t sublayer);

  const Source& embedding() const { return embedding_; }
  /// For each block begun, finished ones first, its sums in the order of the
  /// bases. An unfinished block without updates is absent.
  const std::vector<std::vector<Source>>& blocks() const { return blocks_; }

 private:
  BlockGrid grid_;
  std::vector<BlockBasis> bases_;
  double eps_;
  Source embedding_;
  std::vector<std::vector<Source>> blocks_;
};

}  // namespace leadline::model
