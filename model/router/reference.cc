#include "model/router/reference.h"

namespace leadline::model {

using torch::Tensor;

Tensor RouteReference(const std::vector<Candidate>& candidates,
                      const RouterKey& router, double eps,
                      Tensor* weights_JRBT) {
  std::vector<Tensor> logits_RBT;
  for (const Candidate& candidate : candidates) {
    const Tensor v_RBTD = candidate.source.value_RBTD;
    Tensor z_RBT = torch::zeros(v_RBTD.sizes().slice(0, 3), v_RBTD.options());
    if (router.key_RD.defined()) {
      z_RBT = torch::einsum("rbtd,rd->rbt", {v_RBTD, router.key_RD});
      if (router.normalised) {
        z_RBT = z_RBT * (v_RBTD.square().mean(-1) + eps).rsqrt();
      }
    }
    if (candidate.bias_column >= 0) {
      z_RBT = z_RBT + router.bias_RC.select(1, candidate.bias_column)
                          .unsqueeze(-1)
                          .unsqueeze(-1);
    }
    logits_RBT.push_back(z_RBT);
  }
  const Tensor a_JRBT = torch::softmax(torch::stack(logits_RBT), 0);
  if (weights_JRBT != nullptr) *weights_JRBT = a_JRBT.detach();
  Tensor out_RBTD;
  for (size_t j = 0; j < candidates.size(); ++j) {
    Tensor share_RBT = a_JRBT[static_cast<int64_t>(j)];
    if (candidates[j].scale_RBT.defined()) {
      share_RBT = share_RBT * candidates[j].scale_RBT.detach();
    }
    const Tensor part_RBTD =
        share_RBT.unsqueeze(-1) * candidates[j].source.value_RBTD;
    out_RBTD = j == 0 ? part_RBTD : out_RBTD + part_RBTD;
  }
  return out_RBTD;
}

}  // namespace leadline::model
