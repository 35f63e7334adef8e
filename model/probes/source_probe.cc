#include "model/probes/source_probe.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/router/source_name.h"

namespace leadline::model {
namespace {

using torch::Tensor;

Tensor Unit(const RouteRecord& record, size_t j) {
  const Tensor& v_RBTD = record.sources_RBTD[j];
  const double root = std::sqrt(static_cast<double>(v_RBTD.size(-1)));
  return v_RBTD * (record.inverse_rms_RBT[j] / root).unsqueeze(-1);
}

void Add(const Tensor& more_RBTD, Tensor& sum_RBTD) {
  sum_RBTD = sum_RBTD.defined() ? sum_RBTD + more_RBTD : more_RBTD;
}

}  // namespace

void SourceProbe::OnRoute(const RouteRecord& record) {
  const torch::NoGradGuard no_grad;
  std::vector<size_t> lasting;
  std::vector<size_t> running;
  std::set<std::string> labels;
  for (size_t j = 0; j < record.labels.size(); ++j) {
    const SourceName name = ReadSourceName(record.labels[j]);
    if (name.detail() || name.kind == SourceKind::kNull) continue;
    (name.running() ? running : lasting).push_back(j);
    if (!name.running()) labels.insert(record.labels[j]);
  }
  // A window drops sources from the list.
  if (!std::ranges::includes(labels, summed_)) {
    summed_.clear();
    sum_RBTD_ = Tensor();
  }
  for (const size_t j : lasting) {
    if (seen_.insert(record.labels[j]).second) {
      table_.Set("source.rms", static_cast<int64_t>(seen_.size()) - 1,
                 TokenMean(record.inverse_rms_RBT[j].reciprocal()));
    }
    if (!summed_.insert(record.labels[j]).second) continue;
    Add(Unit(record, j), sum_RBTD_);
  }
  Tensor all_RBTD = sum_RBTD_;
  for (const size_t j : running) Add(Unit(record, j), all_RBTD);
  const auto count = static_cast<double>(lasting.size() + running.size());
  if (count < 2) return;
  table_.Set(
      "source.cosine", record.router,
      TokenMean((all_RBTD.square().sum(-1) - count) / (count * (count - 1))));
}

}  // namespace leadline::model
