#include "model/methods/routers.h"

#include <utility>

namespace leadline::model {

using torch::Tensor;

namespace {

/// The values of something each replica has one of, at every token, without
/// memory for them.
Tensor Everywhere(const Tensor& one, const Tensor& like_RBTD) {
  std::vector<int64_t> sizes = like_RBTD.sizes().vec();
  if (one.dim() == 1) sizes.pop_back();
  return one.unsqueeze(1).unsqueeze(1).expand(sizes);
}

void RecordNull(const NullSource& null, const Tensor& like_RBTD,
                RouteRecord& record) {
  const torch::NoGradGuard no_grad;
  Tensor value_RBTD;
  Tensor inverse_rms_RBT;
  if (null.value_RD.defined()) {
    value_RBTD = Everywhere(null.value_RD.detach(), like_RBTD);
    inverse_rms_RBT = Everywhere(
        (null.value_RD.square().mean(-1) + null.eps).rsqrt(), like_RBTD);
  }
  record.labels.emplace_back("null");
  record.sources_RBTD.push_back(value_RBTD);
  record.inverse_rms_RBT.push_back(inverse_rms_RBT);
  record.scales_RBT.emplace_back();
  record.bias_columns.push_back(-1);
}

}  // namespace

Tensor RouterPass::Route(int64_t q, const std::vector<Candidate>& candidates,
                         const Tensor& bias_RC, const NullSource& null) const {
  RouterKey router{.key_RD = keys_RD_.at(q),
                   .bias_RC = bias_RC,
                   .normalised = normalised_,
                   .null = null};
  if (observer_ == nullptr) return model::Route(candidates, router);
  if (!observer_->Keeps(q, "null")) router.null = {};
  return Observed(q, Kept(q, candidates), router);
}

std::vector<Candidate> RouterPass::Kept(
    int64_t q, const std::vector<Candidate>& candidates) const {
  std::vector<Candidate> kept;
  for (const Candidate& candidate : candidates) {
    if (observer_->Keeps(q, candidate.source.label)) kept.push_back(candidate);
  }
  return kept.empty() ? candidates : kept;
}

Tensor RouterPass::Observed(int64_t q, const std::vector<Candidate>& candidates,
                            const RouterKey& router) const {
  RouteRecord record{.router = q};
  Tensor out_RBTD = model::Route(candidates, router, &record.weights_JRBT);
  if (router.heads > 1) {
    record.head_weights_JRBTG = record.weights_JRBT;
    record.weights_JRBT = record.head_weights_JRBTG.mean(-1);
  }
  if (router.null.exists()) {
    RecordNull(router.null, candidates[0].source.value_RBTD, record);
  }
  for (const Candidate& candidate : candidates) {
    const Source& source = candidate.source;
    record.labels.push_back(source.label);
    record.sources_RBTD.push_back(source.value_RBTD.detach());
    record.inverse_rms_RBT.push_back(source.inverse_rms_RBT);
    record.scales_RBT.push_back(candidate.scale_RBT);
    record.bias_columns.push_back(candidate.bias_column);
  }
  record.out_RBTD = out_RBTD.detach();
  observer_->OnRoute(record);
  return out_RBTD;
}

Routers::Routers(const spec::Settings& settings, int64_t count, int64_t width,
                 ParameterList& parameters)
    : normalised_(settings.IsOn("key_norm")) {
  const ParameterGroup group{.decay = settings.IsOn("router_weight_decay"),
                             .of_method = true};
  const double std = settings.Number("router_init_std");
  w_RQD_ = std > 0 ? parameters.Normal("router.w", {count, width}, std, group)
                   : parameters.Constant("router.w", {count, width}, 0, group);
  g_RQD_ = parameters.Constant("router.g", {count, width}, 1, group);
}

RouterPass Routers::Begin(RouterObserver* observer) const {
  return {(w_RQD_ * g_RQD_).unbind(1), normalised_, observer};
}

}  // namespace leadline::model
