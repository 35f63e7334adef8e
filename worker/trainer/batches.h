// Which windows of the training text each step reads.
//
// Shape suffixes: R replicas, B sequences, T tokens.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torch/torch.h>

#include "worker/trainer/documents.h"

namespace leadline::trainer {

/// Windows and, for each position, the symbol after it. int64.
struct Batch {
  torch::Tensor tokens_RBT;
  torch::Tensor targets_RBT;
  /// float32, 1 where the loss counts and 0 beyond the end of a window's story;
  /// undefined where all of it counts.
  torch::Tensor scored_RBT{};
};

/// Copies windows of `length` symbols that begin at `starts`: those of replica
/// 0, then those of replica 1, ...
Batch CopyWindows(std::span<const uint16_t> symbols,
                  std::span<const int64_t> starts, int64_t replicas,
                  int64_t length);

/// Starts are draws of stream `data/train/<step>` under each replica's data
/// seed: functions of seed and step alone, never of ranks or micro-batches.
/// `symbols` must outlive it.
class Batches {
 public:
  /// Needs more than `context` symbols. With `documents`, which must outlive
  /// it, windows begin on any symbol but the last of a story, and what follows
  /// their story's end is not scored.
  Batches(std::span<const uint16_t> symbols, std::vector<int64_t> data_seeds,
          int64_t context, const Documents* documents = nullptr);

  /// Starts of sequences [first, first + count) of the global batch, by
  /// replica. `step` counts from 0.
  std::vector<int64_t> Starts(int64_t step, int64_t first, int64_t count) const;

  /// Those sequences.
  Batch Read(int64_t step, int64_t first, int64_t count) const;

  /// Scored positions of those sequences, all of them together, by replica;
  /// empty without documents, where all positions are.
  std::vector<int64_t> CountScored(int64_t step, int64_t first,
                                   int64_t count) const;

 private:
  std::span<const uint16_t> symbols_;
  std::vector<int64_t> data_seeds_;
  int64_t context_;
  const Documents* documents_;  // may be null
};

}  // namespace leadline::trainer
