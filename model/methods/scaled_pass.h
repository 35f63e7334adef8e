// The pass of methods that scale each update before the plain sum.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "model/methods/method.h"

namespace leadline::model {

/// h = h + scale_l * u_l, each scale broadcastable to [R, B, T, D].
class ScaledPass final : public DepthPass {
 public:
  /// `scales` has one tensor for every `sublayers_per_scale` sublayers.
  ScaledPass(const torch::Tensor& x_RBTD, std::vector<torch::Tensor> scales,
             int64_t sublayers_per_scale)
      : h_RBTD_(x_RBTD),
        scales_(std::move(scales)),
        sublayers_per_scale_(sublayers_per_scale) {}

  torch::Tensor Read(int64_t) override { return h_RBTD_; }
  void Write(const torch::Tensor& update_RBTD, int64_t sublayer) override {
    h_RBTD_ = torch::addcmul(h_RBTD_, update_RBTD,
                             scales_.at(sublayer / sublayers_per_scale_));
  }
  torch::Tensor Finish() override { return h_RBTD_; }

 private:
  torch::Tensor h_RBTD_;
  std::vector<torch::Tensor> scales_;
  int64_t sublayers_per_scale_;
};

}  // namespace leadline::model
