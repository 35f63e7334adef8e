// A value that routers can take up: the embeddings, an update, a sum of
// updates.
//
// Gradients: the routers that read a source run backward in strictly reverse
// order and add into one buffer that the source owns; autograd only keeps the
// order. The buffer goes on as the gradient of what the source was made from.
//
// Shape suffixes: R replicas, B sequences, T tokens, D width.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <torch/torch.h>

namespace leadline::model {

/// What routers have added so far during a backward pass.
struct SourceGradient {
  torch::Tensor sum_RBTD;  // undefined: nothing yet
  bool shared = false;     // someone else holds the tensor: do not change it
};

struct Source {
  torch::Tensor value_RBTD;
  /// 1 / sqrt(mean_d value^2 + eps), outside autograd: computed once here.
  torch::Tensor inverse_rms_RBT;
  std::shared_ptr<SourceGradient> gradient;
  std::string label;  // "e", "u3", "C2", "P", "Dphi1", "Psig"
};

/// A source that is the tensor itself.
Source MakeSource(const torch::Tensor& value_RBTD, double eps,
                  std::string label);

/// How one running sum takes an update: times `sign`, in all replicas alike, or
/// times the sign that each replica has in `sign_R`, a constant.
struct SignedSum {
  double sign = 1;
  std::string label;
  torch::Tensor sign_R = {};  // undefined: `sign`
};

/// The sums after one more update: sum k is before[k] + sign_k * update, or
/// sign_k * update when `before` is empty. Sums that are bitwise equal by their
/// signs share one tensor; those with signs of each replica never do.
std::vector<Source> AddUpdate(const std::vector<Source>& before,
                              const torch::Tensor& update_RBTD,
                              const std::vector<SignedSum>& sums, double eps);

}  // namespace leadline::model
