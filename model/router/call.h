// One call of the router as its backends see it: no autograd in it.
//
// Shape suffixes: R replicas, B sequences, T tokens, D width, J sources, N the
// null source and J others, G heads, C columns of biases.

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
  int64_t heads = 1;                           // G, divides D

  /// The null source, the first of all where there is one.
  bool has_null = false;
  torch::Tensor null_RD;             // rows contiguous; undefined: zero
  torch::Tensor null_inverse_rms_R;  // undefined: key as it is
  torch::Tensor null_logit_R;        // undefined: no bias

  /// N, what weights are given to: the null source and J others.
  int64_t weighted() const {
    return static_cast<int64_t>(values_RBTD.size()) + (has_null ? 1 : 0);
  }
};

struct RouteOutput {
  torch::Tensor out_RBTD;
  torch::Tensor weights_NRBTG;
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
  bool null_wanted = false;  // of its value
  torch::Tensor key_RD;      // filled
  torch::Tensor logits_RN;   // filled: dL/dz summed over tokens and heads
  torch::Tensor null_RD;     // filled
};

/// The fused loops, for float and double on the CPU.
RouteOutput RouteOnCpu(const RouteCall& call);
void RouteBackwardOnCpu(const RouteCall& call,
                        const torch::Tensor& weights_NRBTG,
                        const torch::Tensor& dout_RBTD,
                        RouteGradients& gradients);

/// The same from tensor operations, on any device.
RouteOutput RouteAnywhere(const RouteCall& call);
void RouteBackwardAnywhere(const RouteCall& call,
                           const torch::Tensor& weights_NRBTG,
                           const torch::Tensor& dout_RBTD,
                           RouteGradients& gradients);

}  // namespace leadline::model
