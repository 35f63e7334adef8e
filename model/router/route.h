// The router: every token takes a softmax-weighted mean of its sources.
//
// Shape suffixes: R replicas, B sequences, T tokens, D width, J sources, C
// columns of biases.

#pragma once

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "model/router/source.h"

namespace leadline::model {

/// A source as one router sees it.
struct Candidate {
  Source source;
  int64_t bias_column = -1;  // column of bias_RC added to its logit; -1: none
  torch::Tensor scale_RBT =
      {};  // factor of its value, a constant; undefined: 1
};

/// The parameters of one router.
struct RouterKey {
  torch::Tensor key_RD;    // query times gain; undefined: logits are the biases
  torch::Tensor bias_RC;   // undefined: no candidate has a bias
  bool normalised = true;  // logits use source / rms(source)
};

/// out = sum_j a_j s_j v_j with a = softmax_j(<key, v_j> / rms(v_j) + b_j),
/// [R, B, T, D] (arXiv:2603.15031, eq. 2-4). Sums run in list order. One
/// candidate is returned as it is. Keeps references to the sources and the
/// weights, never copies; the backward pass is the closed form.
///
/// `weights_JRBT`, if not null, receives the weights, outside autograd.
torch::Tensor Route(const std::vector<Candidate>& candidates,
                    const RouterKey& router,
                    torch::Tensor* weights_JRBT = nullptr);

}  // namespace leadline::model
