// Dropout whose masks are a pure function of seed, site, step and the element's
// place in the global batch: ranks, micro-batches and replicas never change
// them.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>

namespace leadline::model {

/// The masks of one forward pass. A default one drops nothing.
struct Dropout {
  const std::vector<int64_t>* seeds = nullptr;
  double probability = 0;
  int64_t step = 0;
  int64_t first_sequence = 0;  // of this batch in the global one

  bool active() const { return seeds != nullptr && probability > 0; }

  /// The mask of a tensor [R, B, ...] times 1 / (1 - probability); undefined
  /// when not active.
  torch::Tensor Mask(const std::string& site, const torch::Tensor& like) const;

  /// x or what is left of it.
  torch::Tensor Apply(const std::string& site, const torch::Tensor& x) const;
};

}  // namespace leadline::model
