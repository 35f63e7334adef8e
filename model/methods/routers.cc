#include "model/methods/routers.h"

#include <string>
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

/// Makes column j of `mixing_RJ` the bias of source j, a null source with a
/// value among them. Biases the candidates have already are added.
void MixStatically(const Tensor& mixing_RJ, std::vector<Candidate>& candidates,
                   RouterKey& router) {
  const int64_t nulls = router.null.value_RD.defined() ? 1 : 0;
  const auto count = static_cast<int64_t>(candidates.size()) + nulls;
  TORCH_CHECK(mixing_RJ.defined() && mixing_RJ.size(1) == count, "a router of ",
              count, " sources has biases for ",
              mixing_RJ.defined() ? mixing_RJ.size(1) : 0);
  Tensor bias_RJ = mixing_RJ;
  if (router.bias_RC.defined()) {
    Tensor share_CJ = torch::zeros({router.bias_RC.size(1), count},
                                   mixing_RJ.options().requires_grad(false));
    for (int64_t j = nulls; j < count; ++j) {
      const int64_t column = candidates[j - nulls].bias_column;
      if (column >= 0) share_CJ.index_put_({column, j}, 1);
    }
    bias_RJ = mixing_RJ + torch::matmul(router.bias_RC, share_CJ);
  }
  for (int64_t j = nulls; j < count; ++j) {
    candidates[j - nulls].bias_column = j;
  }
  if (nulls > 0) {
    const Tensor b_R = bias_RJ.select(1, 0);
    router.null.logit_R =
        router.null.logit_R.defined() ? router.null.logit_R + b_R : b_R;
  }
  router.bias_RC = bias_RJ;
}

}  // namespace

Tensor RouterPass::Route(int64_t q, const std::vector<Candidate>& candidates,
                         const Tensor& bias_RC, const NullSource& null) const {
  const bool statically = values_.keys_RD.empty();
  RouterKey router{.key_RD = statically ? Tensor() : values_.keys_RD.at(q),
                   .bias_RC = bias_RC,
                   .normalised = values_.normalised,
                   .heads = values_.heads,
                   .null = null};
  std::vector<Candidate> mine;
  if (statically) {
    mine = candidates;
    MixStatically(values_.mixing_RJ.at(q), mine, router);
  }
  const std::vector<Candidate>& read = statically ? mine : candidates;
  if (observer_ == nullptr) return model::Route(read, router);
  if (!observer_->Keeps(q, "null")) router.null = {};
  return Observed(q, Kept(q, read), router);
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

Routers::Routers(const spec::Settings& settings,
                 const std::vector<int64_t>& sources, int64_t width,
                 ParameterList& parameters)
    : normalised_(settings.IsOn("key_norm")) {
  if (settings.Has("router_heads")) heads_ = settings.Integer("router_heads");
  const auto count = static_cast<int64_t>(sources.size());
  if (settings.IsOn("static_mixing")) {
    for (int64_t q = 0; q < count; ++q) {
      mixing_RJ_.push_back(
          sources[q] == 0
              ? Tensor()
              : parameters.Constant("router.b." + std::to_string(q),
                                    {sources[q]}, 0, {.of_method = true}));
    }
    return;
  }
  const ParameterGroup group{.decay = settings.IsOn("router_weight_decay"),
                             .of_method = true};
  const double std = settings.Number("router_init_std");
  w_RQD_ = std > 0 ? parameters.Normal("router.w", {count, width}, std, group)
                   : parameters.Constant("router.w", {count, width}, 0, group);
  g_RQD_ = parameters.Constant("router.g", {count, width}, 1, group);
}

RouterPass Routers::Begin(RouterObserver* observer) const {
  RouterValues values{
      .mixing_RJ = mixing_RJ_, .normalised = normalised_, .heads = heads_};
  if (w_RQD_.defined()) values.keys_RD = (w_RQD_ * g_RQD_).unbind(1);
  return {std::move(values), observer};
}

}  // namespace leadline::model
