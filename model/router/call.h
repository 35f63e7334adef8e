// One call of the router as its backends see it: no autograd in it.

#pragma once

#include <cstdint>
#include <vector>

#include <torch/torch.h>

namespace leadline::model {

struct RouteCall {
  std::vector<torch::Tensor> values_RBTD;      // J, contiguous
  std::vector<torch::Tensor> inverse_rms_RBT;  // J; undefined: key as it is
  std::vector<torch::Tensor> scales_RBT;       // J; undefined: 1
  std::vector<int64_t> bias_columns;           // J; -1: none
  torch::Tensor key_RD;                        // rows contiguous, or undefined
  torch::Tensor bias_RC;                       // likewise

  int64_t sources() const { return static_cast<int64_t>(values_RBTD.size()); }
};

struct RouteOutput {
  torch::Tensor out_RBTD;
  torch::Tensor weights_JRBT;
};

/// Gradients a backward pass adds to, and those it makes.
struct RouteGradients {
  /// J. `before` undefined: the first contribution. `wanted` false: skip.
  /// `in_place`: `before` may be changed.
  struct OfSource {
    torch::Tensor before_RBTD;
    bool in_place = false;
    bool wanted = true;
    torch::Tensor after_RBTD = {};  // filled
  };
  std::vector<OfSource> sources;
  bool key_wanted = false;
  bool logits_wanted = false;
  torch::Tensor key_RD;     // filled
  torch::Tensor logits_RJ;  // filled: dL/dz summed over tokens
};

/// The fused loops, for float and double on the CPU.
RouteOutput RouteOnCpu(const RouteCall& call);
void RouteBackwardOnCpu(const RouteCall& call,
                        const torch::Tensor& weights_JRBT,
                        const torch::Tensor& dout_RBTD,
                        RouteGradients& gradients);

/// The same from tensor operations, on any device.
RouteOutput RouteAnywhere(const RouteCall& call);
void RouteBackwardAnywhere(const RouteCall& call,
                           const torch::Tensor& weights_JRBT,
                           const torch::Tensor& dout_RBTD,
                           RouteGradients& gradients);

}  // namespace leadline::model
