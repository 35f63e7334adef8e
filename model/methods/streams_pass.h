// The pass of methods that keep several streams.

#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include <torch/torch.h>

#include "model/methods/method.h"
#include "model/streams/streams.h"

namespace leadline::model {

/// M streams, all e at first; each sublayer reads a weighted sum of them, then
/// they are mixed and each takes up a share of the update. The end is their
/// sum.
class StreamsPass final : public DepthPass {
 public:
  /// The coefficients [R, B, T, M, M + 2] of a sublayer before streams [R, B,
  /// T, M, D], as model/streams/streams.h has them.
  using Coefficients =
      std::function<torch::Tensor(int64_t sublayer, const torch::Tensor& h)>;

  /// `observer` may be null.
  StreamsPass(const torch::Tensor& x_RBTD, int64_t streams,
              RouterObserver* observer, Coefficients coefficients)
      : h_RBTMD_(
            x_RBTD.unsqueeze(3).expand({-1, -1, -1, streams, -1}).contiguous()),
        observer_(observer),
        coefficients_(std::move(coefficients)) {}

  torch::Tensor Read(int64_t sublayer) override {
    if (observer_ != nullptr) observer_->OnStreams(sublayer, h_RBTMD_.detach());
    now_RBTMC_ = coefficients_(sublayer, h_RBTMD_);
    return ReadStreams(h_RBTMD_, now_RBTMC_);
  }
  void Write(const torch::Tensor& update_RBTD, int64_t) override {
    h_RBTMD_ = MixStreams(h_RBTMD_, update_RBTD, now_RBTMC_);
  }
  torch::Tensor Finish() override { return h_RBTMD_.sum(3); }

 private:
  torch::Tensor h_RBTMD_;
  torch::Tensor now_RBTMC_;
  RouterObserver* observer_;
  Coefficients coefficients_;
};

}  // namespace leadline::model
