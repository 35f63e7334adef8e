// The router: every token takes a softmax-weighted mean of its sources.
//
// Shape suffixes: R replicas, B sequences, T tokens, D width, J sources, G
// heads, C columns of biases.

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

/// A source that lets a router take less of the others: one value a replica,
/// the same for every token, never spread over them. It is the first of all.
struct NullSource {
  torch::Tensor value_RD = {};  // undefined: zero, with logit_R alone
  torch::Tensor logit_R = {};   // added to its logit; undefined: 0
  double eps = 0;               // of its key

  bool exists() const { return value_RD.defined() || logit_R.defined(); }
};

/// The parameters of one router.
struct RouterKey {
  torch::Tensor key_RD;    // query times gain; undefined: logits are the biases
  torch::Tensor bias_RC;   // undefined: no candidate has a bias
  bool normalised = true;  // logits use source / rms(source)
  /// G: the width is cut into so many slices, each with a softmax of its own
  /// from its slice of the key. The rms is that of the whole source; bias and
  /// scale of a source count in all heads.
  int64_t heads = 1;
  NullSource null = {};
};

/// out = sum_j a_j s_j v_j with a = softmax_j(<key, v_j> / rms(v_j) + b_j),
/// [R, B, T, D] (arXiv:2603.15031, eq. 2-4). Sums run in list order. One
/// candidate without a null source is returned as it is. Keeps references to
/// the sources and the weights, never copies; the backward pass is the closed
/// form.
///
/// `weights`, if not null, receives a, outside autograd: [J, R, B, T], with
/// several heads [J, R, B, T, G]. A null source is one more, the first.
torch::Tensor Route(const std::vector<Candidate>& candidates,
                    const RouterKey& router, torch::Tensor* weights = nullptr);

}  // namespace leadline::model
