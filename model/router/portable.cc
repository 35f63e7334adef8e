#include "model/router/call.h"

namespace leadline::model {
namespace {

using torch::Tensor;

/// <key, v> of every token, [R, B, T].
Tensor Project(const Tensor& value_RBTD, const Tensor& key_RD) {
  const torch::IntArrayRef sizes = value_RBTD.sizes();
  return torch::bmm(value_RBTD.view({sizes[0], -1, sizes[3]}),
                    key_RD.unsqueeze(-1))
      .view(sizes.slice(0, 3));
}

Tensor Times(const Tensor& a, const Tensor& b_or_one) {
  return b_or_one.defined() ? a * b_or_one : a;
}

Tensor Logits(const RouteCall& call, size_t j) {
  Tensor z_RBT = call.key_RD.defined()
                     ? Times(Project(call.values_RBTD[j], call.key_RD),
                             call.inverse_rms_RBT[j])
                     : torch::zeros(call.values_RBTD[j].sizes().slice(0, 3),
                                    call.values_RBTD[j].options());
  if (call.bias_columns[j] >= 0) {
    z_RBT = z_RBT + call.bias_RC.select(1, call.bias_columns[j])
                        .unsqueeze(-1)
                        .unsqueeze(-1);
  }
  return z_RBT;
}

/// dL/dv_j of the closed form, without what was there before.
Tensor ValueGradient(const RouteCall& call, size_t j, const Tensor& a_RBT,
                     const Tensor& dz_RBT, const Tensor& dout_RBTD) {
  const Tensor& v_RBTD = call.values_RBTD[j];
  Tensor dv_RBTD = Times(a_RBT, call.scales_RBT[j]).unsqueeze(-1) * dout_RBTD;
  if (!call.key_RD.defined()) return dv_RBTD;
  const Tensor& r_RBT = call.inverse_rms_RBT[j];
  const Tensor share_RBT = Times(dz_RBT, r_RBT);
  dv_RBTD.addcmul_(share_RBT.unsqueeze(-1),
                   call.key_RD.unsqueeze(1).unsqueeze(1));
  if (r_RBT.defined()) {
    const Tensor pull_RBT = share_RBT * Project(v_RBTD, call.key_RD) * r_RBT *
                            r_RBT / static_cast<double>(v_RBTD.size(-1));
    dv_RBTD.addcmul_(pull_RBT.unsqueeze(-1), v_RBTD, -1);
  }
  return dv_RBTD;
}

void AddTo(RouteGradients::OfSource& gradient, const Tensor& dv_RBTD) {
  if (!gradient.before_RBTD.defined()) {
    gradient.after_RBTD = dv_RBTD;
  } else if (gradient.in_place) {
    gradient.after_RBTD = gradient.before_RBTD.add_(dv_RBTD);
  } else {
    gradient.after_RBTD = gradient.before_RBTD + dv_RBTD;
  }
}

}  // namespace

RouteOutput RouteAnywhere(const RouteCall& call) {
  std::vector<Tensor> logits_RBT;
  for (size_t j = 0; j < call.values_RBTD.size(); ++j) {
    logits_RBT.push_back(Logits(call, j));
  }
  RouteOutput result;
  result.weights_JRBT = torch::softmax(torch::stack(logits_RBT), 0);
  for (size_t j = 0; j < call.values_RBTD.size(); ++j) {
    const Tensor share_RBT1 =
        Times(result.weights_JRBT[static_cast<int64_t>(j)], call.scales_RBT[j])
            .unsqueeze(-1);
    if (j == 0) {
      result.out_RBTD = share_RBT1 * call.values_RBTD[j];
    } else {
      result.out_RBTD.addcmul_(share_RBT1, call.values_RBTD[j]);
    }
  }
  return result;
}

void RouteBackwardAnywhere(const RouteCall& call, const Tensor& weights_JRBT,
                           const Tensor& dout_RBTD, RouteGradients& gradients) {
  std::vector<Tensor> da_RBT;
  for (size_t j = 0; j < call.values_RBTD.size(); ++j) {
    da_RBT.push_back(
        Times((dout_RBTD * call.values_RBTD[j]).sum(-1), call.scales_RBT[j]));
  }
  const Tensor da_JRBT = torch::stack(da_RBT);
  const Tensor dz_JRBT =
      weights_JRBT * (da_JRBT - (weights_JRBT * da_JRBT).sum(0));
  if (gradients.logits_wanted) {
    gradients.logits_RJ = dz_JRBT.sum({2, 3}).transpose(0, 1);
  }
  for (size_t j = 0; j < call.values_RBTD.size(); ++j) {
    const Tensor dz_RBT = dz_JRBT[static_cast<int64_t>(j)];
    const Tensor& v_RBTD = call.values_RBTD[j];
    if (gradients.key_wanted) {
      const Tensor share_R1N = Times(dz_RBT, call.inverse_rms_RBT[j])
                                   .reshape({v_RBTD.size(0), 1, -1});
      const Tensor part_RD =
          torch::bmm(share_R1N,
                     v_RBTD.view({v_RBTD.size(0), -1, v_RBTD.size(3)}))
              .squeeze(1);
      gradients.key_RD = j == 0 ? part_RD : gradients.key_RD.add_(part_RD);
    }
    if (!gradients.sources[j].wanted) continue;
    AddTo(gradients.sources[j],
          ValueGradient(call, j, weights_JRBT[static_cast<int64_t>(j)], dz_RBT,
                        dout_RBTD));
  }
}

}  // namespace leadline::model
