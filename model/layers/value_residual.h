// Values of the first attention layer, mixed into those of later ones
// (arXiv:2410.17897).
//
// Shape suffixes: R replicas, N tokens of all sequences, C width of the values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// The values of one forward pass. Attention layers take part in their order.
class ValuePass {
 public:
  /// One pair a layer after the first, each [R, 1, 1].
  struct Weights {
    torch::Tensor first;
    torch::Tensor own;
  };

  /// Leaves values as they are.
  ValuePass() = default;
  /// Halves where `weights` is empty.
  explicit ValuePass(std::vector<Weights> weights)
      : active_(true), weights_(std::move(weights)) {}

  /// The values that the next layer attends to: its own in the first layer, c1
  /// of the first layer's + c2 of its own in later ones.
  torch::Tensor Mix(const torch::Tensor& v_RNC);

 private:
  bool active_ = false;
  std::vector<Weights> weights_;
  size_t layers_after_first_ = 0;
  torch::Tensor first_RNC_;
};

/// The flag `value_residual`. `learned` declares `value_residual.c` [R, L-1,
/// 2], halves at the start.
class ValueResidual {
 public:
  ValueResidual(const spec::Settings& settings, ParameterList& parameters);

  ValuePass Begin() const;

 private:
  bool active_;
  torch::Tensor c_;  // [R, L-1, 2]; undefined: halves
};

}  // namespace leadline::model
