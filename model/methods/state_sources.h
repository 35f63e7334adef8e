// The sources of methods that route over what the plain stream has been.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "model/router/source.h"

namespace leadline::model {

/// hs_0 = e, hs_1, ..., the running sums of all updates.
class StateSources {
 public:
  StateSources(const torch::Tensor& x_RBTD, double eps)
      : eps_(eps), states_{MakeSource(x_RBTD, eps, "e")} {}

  void Write(const torch::Tensor& update_RBTD) {
    const SignedSum sum{1, "h" + std::to_string(states_.size())};
    states_.push_back(AddUpdate({states_.back()}, update_RBTD, {sum}, eps_)[0]);
  }

  /// Every state so far, the newest last.
  const std::vector<Source>& states() const { return states_; }

 private:
  double eps_;
  std::vector<Source> states_;
};

}  // namespace leadline::model
