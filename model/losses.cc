#include "model/losses.h"

namespace leadline::model {

using torch::Tensor;

Tensor TokenLosses(const Tensor& logits_RBTV, const Tensor& targets_RBT) {
  TORCH_CHECK(logits_RBTV.sizes().slice(0, 3) == targets_RBT.sizes(),
              "targets of shape ", targets_RBT.sizes(), " for logits of shape ",
              logits_RBTV.sizes());
  const Tensor wide = logits_RBTV.scalar_type() == torch::kFloat64
                          ? logits_RBTV
                          : logits_RBTV.to(torch::kFloat32);
  return at::cross_entropy_loss(wide.reshape({-1, wide.size(-1)}),
                                targets_RBT.reshape({-1}), {},
                                at::Reduction::None)
      .view(targets_RBT.sizes());
}

}  // namespace leadline::model
