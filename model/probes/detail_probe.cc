#include "model/probes/detail_probe.h"

#include <map>

#include "model/router/source_name.h"

namespace leadline::model {

using torch::Tensor;

void DetailProbe::OnRoute(const RouteRecord& record) {
  const torch::NoGradGuard no_grad;
  std::map<int64_t, Tensor> inverse_rms_of_sum_RBT;  // by block; -1: running
  int64_t largest = finished_ - 1;
  for (size_t j = 0; j < record.labels.size(); ++j) {
    const SourceName name = ReadSourceName(record.labels[j]);
    if (name.kind == SourceKind::kBlock || name.kind == SourceKind::kPartial) {
      inverse_rms_of_sum_RBT[name.index] = record.inverse_rms_RBT[j];
    }
    // A finished block stays as it is.
    if (!name.detail() || (name.index >= 0 && name.index < finished_)) continue;
    const auto sum = inverse_rms_of_sum_RBT.find(name.index);
    // Left out of this router, while its detail is not.
    if (sum == inverse_rms_of_sum_RBT.end()) continue;
    const bool phase = name.kind == SourceKind::kPhaseDetail;
    const std::string part = std::string(phase ? ".phase" : ".split") +
                             (name.running() ? "_partial" : "_finished");
    const int64_t index = name.running() ? record.router : name.index;
    const Tensor& of_detail_RBT = record.inverse_rms_RBT[j];
    table_.Set("detail.rms_ratio" + part, index,
               TokenMean(sum->second / of_detail_RBT));
    table_.Set("detail.clipped" + part, index,
               TokenMean(of_detail_RBT / sum->second > rho_));
    largest = std::max(largest, name.index);
  }
  finished_ = largest + 1;
}

}  // namespace leadline::model
