#include "model/router/reference.h"

namespace leadline::model {
namespace {

using torch::Tensor;

/// v with its width cut into the router's heads, [R, B, T, G, D/G].
Tensor Slices(const Tensor& v_RBTD, int64_t heads) {
  return torch::stack(v_RBTD.chunk(heads, -1), -2);
}

/// Logits [R, B, T, G] before the bias.
Tensor KeyProduct(const Tensor& v_RBTD, const RouterKey& router, double eps) {
  if (!router.key_RD.defined()) {
    std::vector<int64_t> sizes = v_RBTD.sizes().vec();
    sizes.back() = router.heads;
    return torch::zeros(sizes, v_RBTD.options());
  }
  const Tensor key_RGK =
      torch::stack(router.key_RD.chunk(router.heads, -1), -2);
  Tensor z_RBTG =
      torch::einsum("rbtgk,rgk->rbtg", {Slices(v_RBTD, router.heads), key_RGK});
  if (router.normalised) {
    z_RBTG = z_RBTG * (v_RBTD.square().mean(-1, true) + eps).rsqrt();
  }
  return z_RBTG;
}

Tensor PlusOnePerReplica(const Tensor& z_RBTG, const Tensor& b_R) {
  return z_RBTG + b_R.reshape({-1, 1, 1, 1});
}

}  // namespace

Tensor RouteReference(const std::vector<Candidate>& candidates,
                      const RouterKey& router, double eps, Tensor* weights) {
  std::vector<Tensor> logits_RBTG;
  std::vector<Tensor> values_RBTD;
  if (router.null.exists()) {
    const Tensor& like_RBTD = candidates[0].source.value_RBTD;
    const Tensor value_RBTD =
        router.null.value_RD.defined()
            ? router.null.value_RD.unsqueeze(1).unsqueeze(1).expand_as(
                  like_RBTD)
            : torch::zeros_like(like_RBTD);
    Tensor z_RBTG = KeyProduct(value_RBTD, router, router.null.eps);
    if (!router.null.value_RD.defined()) z_RBTG = torch::zeros_like(z_RBTG);
    if (router.null.logit_R.defined()) {
      z_RBTG = PlusOnePerReplica(z_RBTG, router.null.logit_R);
    }
    logits_RBTG.push_back(z_RBTG);
    values_RBTD.push_back(value_RBTD);
  }
  for (const Candidate& candidate : candidates) {
    const Tensor& v_RBTD = candidate.source.value_RBTD;
    Tensor z_RBTG = KeyProduct(v_RBTD, router, eps);
    if (candidate.bias_column >= 0) {
      z_RBTG = PlusOnePerReplica(
          z_RBTG, router.bias_RC.select(1, candidate.bias_column));
    }
    logits_RBTG.push_back(z_RBTG);
    values_RBTD.push_back(candidate.scale_RBT.defined()
                              ? v_RBTD *
                                    candidate.scale_RBT.detach().unsqueeze(-1)
                              : v_RBTD);
  }
  const Tensor a_JRBTG = torch::softmax(torch::stack(logits_RBTG), 0);
  if (weights != nullptr) {
    *weights = a_JRBTG.detach();
    if (router.heads == 1) *weights = weights->squeeze(-1);
  }
  Tensor out_RBTD;
  for (size_t j = 0; j < values_RBTD.size(); ++j) {
    const Tensor part_RBTD = (a_JRBTG[static_cast<int64_t>(j)].unsqueeze(-1) *
                              Slices(values_RBTD[j], router.heads))
                                 .flatten(3);
    out_RBTD = j == 0 ? part_RBTD : out_RBTD + part_RBTD;
  }
  return out_RBTD;
}

}  // namespace leadline::model
