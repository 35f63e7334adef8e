#include "model/methods/routers.h"

#include <utility>

namespace leadline::model {

using torch::Tensor;

Tensor RouterPass::Route(int64_t q, const std::vector<Candidate>& candidates,
                         const Tensor& bias_RC) const {
  const RouterKey router{keys_RD_.at(q), bias_RC, normalised_};
  if (observer_ == nullptr) return model::Route(candidates, router);
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
