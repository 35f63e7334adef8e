#include "model/router/call.h"

namespace leadline::model {
namespace {

using torch::Tensor;

/// The null source and the others alike: its tensors have B = T = 1.
struct SourceView {
  Tensor value_RBTD;       // undefined: zero
  Tensor inverse_rms_RBT;  // undefined: key as it is
  Tensor scale_RBT;        // undefined: 1
  Tensor bias_R;           // undefined: none
};

std::vector<SourceView> SourcesOf(const RouteCall& call) {
  std::vector<SourceView> sources;
  const auto spread = [](const Tensor& tensor) {
    return tensor.defined() ? tensor.unsqueeze(1).unsqueeze(1) : tensor;
  };
  if (call.has_null) {
    sources.push_back({spread(call.null_RD), spread(call.null_inverse_rms_R),
                       Tensor(), call.null_logit_R});
  }
  for (size_t j = 0; j < call.values_RBTD.size(); ++j) {
    sources.push_back({call.values_RBTD[j], call.inverse_rms_RBT[j],
                       call.scales_RBT[j],
                       call.bias_columns[j] < 0
                           ? Tensor()
                           : call.bias_RC.select(1, call.bias_columns[j])});
  }
  return sources;
}

/// The key of each head as a column of the full width, zero outside its slice.
Tensor HeadKeys(const RouteCall& call) {
  if (!call.key_RD.defined() || call.heads == 1) {
    return call.key_RD.defined() ? call.key_RD.unsqueeze(-1) : Tensor();
  }
  const int64_t replicas = call.key_RD.size(0);
  const Tensor slices_RGK = call.key_RD.reshape({replicas, call.heads, -1});
  return torch::diag_embed(slices_RGK.transpose(1, 2), 0, 1, 3)
      .reshape({replicas, -1, call.heads});
}

/// <key, v> of every token and head, [R, B, T, G].
Tensor Project(const Tensor& value_RBTD, const Tensor& keys_RDG) {
  const torch::IntArrayRef sizes = value_RBTD.sizes();
  return torch::bmm(value_RBTD.reshape({sizes[0], -1, sizes[3]}), keys_RDG)
      .view({sizes[0], sizes[1], sizes[2], keys_RDG.size(2)});
}

/// Cuts the width into slices: [.., D] to [.., G, D/G].
Tensor Slices(const Tensor& values, int64_t heads) {
  std::vector<int64_t> sizes = values.sizes().vec();
  sizes.back() = heads;
  sizes.push_back(-1);
  return values.reshape(sizes);
}

/// a_RBTG times a factor of all heads.
Tensor Times(const Tensor& a_RBTG, const Tensor& factor_RBT) {
  return factor_RBT.defined() ? a_RBTG * factor_RBT.unsqueeze(-1) : a_RBTG;
}

/// One call with what all its sources need.
class Computation {
 public:
  explicit Computation(const RouteCall& call)
      : call_(call), sources_(SourcesOf(call)), keys_RDG_(HeadKeys(call)) {
    const Tensor& like = call.values_RBTD[0];
    zeros_RBTG_ =
        torch::zeros({}, like.options())
            .expand({like.size(0), like.size(1), like.size(2), call.heads});
  }

  const std::vector<SourceView>& sources() const { return sources_; }

  Tensor Logits(const SourceView& source) const {
    Tensor z_RBTG = zeros_RBTG_;
    if (keys_RDG_.defined() && source.value_RBTD.defined()) {
      z_RBTG =
          Times(Project(source.value_RBTD, keys_RDG_), source.inverse_rms_RBT);
    }
    if (source.bias_R.defined()) {
      z_RBTG = z_RBTG + source.bias_R.view({-1, 1, 1, 1});
    }
    return z_RBTG.expand_as(zeros_RBTG_);
  }

  /// dL/da of one source.
  Tensor WeightGradient(const SourceView& source,
                        const Tensor& dout_RBTD) const {
    if (!source.value_RBTD.defined()) return zeros_RBTG_;
    return Times(Slices(dout_RBTD * source.value_RBTD, call_.heads).sum(-1),
                 source.scale_RBT);
  }

  /// dL/dkey of one source, [R, D].
  Tensor KeyGradient(const SourceView& source, const Tensor& dz_RBTG) const {
    const Tensor& v_RBTD = source.value_RBTD;
    const int64_t replicas = v_RBTD.size(0);
    const Tensor share_RBTG = Times(dz_RBTG, source.inverse_rms_RBT)
                                  .sum_to_size({replicas, v_RBTD.size(1),
                                                v_RBTD.size(2), call_.heads});
    const Tensor all_RGD =
        torch::bmm(share_RBTG.flatten(1, 2).transpose(1, 2),
                   v_RBTD.reshape({replicas, -1, v_RBTD.size(3)}));
    if (call_.heads == 1) return all_RGD.squeeze(1);
    return Slices(all_RGD, call_.heads)
        .diagonal(0, 1, 2)
        .transpose(1, 2)
        .reshape({replicas, -1});
  }

  /// dL/dv_j of the closed form, without what was there before.
  Tensor ValueGradient(const SourceView& source, const Tensor& a_RBTG,
                       const Tensor& dz_RBTG, const Tensor& dout_RBTD) const {
    const Tensor& v_RBTD = source.value_RBTD;
    const Tensor& r_RBT = source.inverse_rms_RBT;
    Tensor dv_RBTGK = Times(a_RBTG, source.scale_RBT).unsqueeze(-1) *
                      Slices(dout_RBTD, call_.heads);
    if (!keys_RDG_.defined()) return dv_RBTGK.flatten(3);
    const Tensor share_RBTG = Times(dz_RBTG, r_RBT);
    dv_RBTGK.addcmul_(
        share_RBTG.unsqueeze(-1),
        Slices(call_.key_RD, call_.heads).unsqueeze(1).unsqueeze(1));
    Tensor dv_RBTD = dv_RBTGK.flatten(3);
    if (r_RBT.defined()) {
      // The norm is over the full width, so every head pulls on all of it.
      const Tensor pull_RBT =
          (share_RBTG * Project(v_RBTD, keys_RDG_)).sum(-1) * r_RBT * r_RBT /
          static_cast<double>(v_RBTD.size(-1));
      dv_RBTD.addcmul_(pull_RBT.unsqueeze(-1), v_RBTD, -1);
    }
    return dv_RBTD;
  }

 private:
  const RouteCall& call_;
  std::vector<SourceView> sources_;
  Tensor keys_RDG_;
  Tensor zeros_RBTG_;
};

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
  const Computation computation(call);
  std::vector<Tensor> logits_RBTG;
  for (const SourceView& source : computation.sources()) {
    logits_RBTG.push_back(computation.Logits(source));
  }
  RouteOutput result;
  result.weights_NRBTG = torch::softmax(torch::stack(logits_RBTG), 0);
  Tensor out_RBTGK;
  for (int64_t j = 0; j < call.weighted(); ++j) {
    const SourceView& source = computation.sources()[j];
    if (!source.value_RBTD.defined()) continue;
    const Tensor share_RBTG1 =
        Times(result.weights_NRBTG[j], source.scale_RBT).unsqueeze(-1);
    const Tensor v_RBTGK = Slices(source.value_RBTD, call.heads);
    if (out_RBTGK.defined()) {
      out_RBTGK.addcmul_(share_RBTG1, v_RBTGK);
    } else {
      out_RBTGK = share_RBTG1 * v_RBTGK;
    }
  }
  result.out_RBTD = out_RBTGK.flatten(3);
  return result;
}

void RouteBackwardAnywhere(const RouteCall& call, const Tensor& weights_NRBTG,
                           const Tensor& dout_RBTD, RouteGradients& gradients) {
  const Computation computation(call);
  std::vector<Tensor> da_RBTG;
  for (const SourceView& source : computation.sources()) {
    da_RBTG.push_back(computation.WeightGradient(source, dout_RBTD));
  }
  const Tensor da_NRBTG = torch::stack(da_RBTG);
  const Tensor dz_NRBTG =
      weights_NRBTG * (da_NRBTG - (weights_NRBTG * da_NRBTG).sum(0));
  if (gradients.logits_wanted) {
    gradients.logits_RN = dz_NRBTG.sum({2, 3, 4}).transpose(0, 1);
  }
  const int64_t nulls = call.has_null ? 1 : 0;
  for (int64_t j = 0; j < call.weighted(); ++j) {
    const SourceView& source = computation.sources()[j];
    if (!source.value_RBTD.defined()) continue;
    if (gradients.key_wanted) {
      const Tensor part_RD = computation.KeyGradient(source, dz_NRBTG[j]);
      gradients.key_RD =
          gradients.key_RD.defined() ? gradients.key_RD.add_(part_RD) : part_RD;
    }
    const bool is_null = j < nulls;
    if (is_null ? !gradients.null_wanted
                : !gradients.sources[j - nulls].wanted) {
      continue;
    }
    const Tensor dv_RBTD = computation.ValueGradient(source, weights_NRBTG[j],
                                                     dz_NRBTG[j], dout_RBTD);
    if (is_null) {
      gradients.null_RD = dv_RBTD.sum({1, 2});
    } else {
      AddTo(gradients.sources[j - nulls], dv_RBTD);
    }
  }
}

}  // namespace leadline::model
