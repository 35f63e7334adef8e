#include "model/probes/routing_probe.h"

#include <map>
#include <string_view>
#include <utility>

#include "model/router/source_name.h"

namespace leadline::model {
namespace {

using torch::Tensor;

/// Which part of the detail mass a detail belongs to.
std::string DetailPart(const SourceName& name) {
  return std::string("route.detail_mass.") +
         (name.kind == SourceKind::kPhaseDetail ? "phase" : "split") +
         (name.running() ? "_partial" : "_finished");
}

/// Index of the newest source that is neither a detail nor null.
size_t Newest(const std::vector<SourceName>& names) {
  size_t newest = 0;
  for (size_t j = 0; j < names.size(); ++j) {
    if (!names[j].detail() && names[j].kind != SourceKind::kNull) newest = j;
  }
  return newest;
}

/// Figures that are sums over sources of their mean weights, by name: the
/// factor of each source.
std::map<std::string, std::vector<double>> Factors(
    const std::vector<SourceName>& names, int64_t sublayer,
    int64_t block_sublayers) {
  std::map<std::string, std::vector<double>> factors;
  for (const char* name :
       {"route.embedding_mass", "route.last_mass", "route.partial_mass",
        "route.null_mass", "route.lookback", "route.detail_mass",
        "route.detail_mass.phase_finished", "route.detail_mass.phase_partial",
        "route.detail_mass.split_finished",
        "route.detail_mass.split_partial"}) {
    factors[name].assign(names.size(), 0);
  }
  for (size_t j = 0; j < names.size(); ++j) {
    const SourceName& name = names[j];
    factors["route.lookback"][j] =
        static_cast<double>(sublayer - name.Birth(sublayer, block_sublayers));
    if (name.detail()) {
      factors["route.detail_mass"][j] = 1;
      factors[DetailPart(name)][j] = 1;
    } else if (name.kind == SourceKind::kEmbedding) {
      factors["route.embedding_mass"][j] = 1;
    } else if (name.kind == SourceKind::kPartial) {
      factors["route.partial_mass"][j] = 1;
    } else if (name.kind == SourceKind::kNull) {
      factors["route.null_mass"][j] = 1;
    }
  }
  factors["route.last_mass"][Newest(names)] = 1;
  return factors;
}

/// The figures that follow from the weights of single tokens, a_JRBTG.
void AddTokenFigures(int64_t router, const Tensor& a_JRBTG,
                     FigureTable& table) {
  const auto sources = static_cast<double>(a_JRBTG.size(0));
  const std::vector<int64_t> over_heads = {1, 2, 3};
  const Tensor max_RBTG = a_JRBTG.amax(0);
  const Tensor entropy_RBTG = -torch::xlogy(a_JRBTG, a_JRBTG).sum(0);
  const Tensor effective_R = entropy_RBTG.exp().mean(over_heads);
  table.Set("route.max_weight", router, max_RBTG.mean(over_heads));
  table.Set("route.entropy", router, entropy_RBTG.mean(over_heads));
  table.Set("route.effective_sources", router, effective_R);
  table.Set("route.effective_sources_frac", router, effective_R / sources);
  table.Set("route.tv_uniform", router,
            (a_JRBTG - 1 / sources).abs().sum(0).mean(over_heads) * 0.5);
  if (a_JRBTG.size(4) == 1) return;
  const std::vector<Tensor> max_R = max_RBTG.mean({1, 2}).unbind(1);
  const std::vector<Tensor> entropy_R = entropy_RBTG.mean({1, 2}).unbind(1);
  for (size_t g = 0; g < max_R.size(); ++g) {
    const std::string head = ".head" + std::to_string(g);
    table.Set("route.max_weight" + head, router, max_R[g]);
    table.Set("route.entropy" + head, router, entropy_R[g]);
  }
}

}  // namespace

void RoutingProbe::OnRoute(const RouteRecord& record) {
  const torch::NoGradGuard no_grad;
  const Tensor a_JRBTG = record.head_weights_JRBTG.defined()
                             ? record.head_weights_JRBTG
                             : record.weights_JRBT.unsqueeze(-1);
  AddTokenFigures(record.router, a_JRBTG.to(torch::kFloat64), table_);
  const Tensor mean_JR = TokenMean(record.weights_JRBT);
  AddMasses(record, mean_JR);
  if (static_cast<int64_t>(rows_.size()) <= record.router) {
    rows_.resize(record.router + 1);
  }
  rows_[record.router] = {record.labels, mean_JR};
}

void RoutingProbe::AddMasses(const RouteRecord& record, const Tensor& mean_JR) {
  std::vector<SourceName> names;
  for (const std::string& label : record.labels) {
    names.push_back(ReadSourceName(label));
    has_details_ = has_details_ || names.back().detail();
    has_null_ = has_null_ || names.back().kind == SourceKind::kNull;
  }
  const auto factors = Factors(names, record.router, block_sublayers_);
  std::vector<double> flat;
  for (const auto& [name, of_sources] : factors) {
    flat.insert(flat.end(), of_sources.begin(), of_sources.end());
  }
  const Tensor factors_FJ =
      torch::tensor(flat, torch::kFloat64)
          .view({static_cast<int64_t>(factors.size()), mean_JR.size(0)})
          .to(mean_JR.device());
  const Tensor masses_FR = torch::matmul(factors_FJ, mean_JR);
  int64_t f = 0;
  for (const auto& [name, of_sources] : factors) {
    table_.Set(name, record.router, masses_FR[f++]);
  }
}

std::vector<std::vector<RouterRow>> RoutingProbe::Finish(int64_t replicas) {
  if (!has_details_) table_.Drop("route.detail_mass");
  if (!has_null_) table_.Drop("route.null_mass");
  std::vector<std::vector<RouterRow>> maps(replicas);
  for (const Row& row : rows_) {
    for (auto& map : maps) map.push_back({row.labels, {}});
    if (!row.mean_JR.defined()) continue;
    // Read where they lie: a transposed copy is a call more for several
    // replicas.
    const Tensor mean_JR = row.mean_JR.cpu();
    const auto* mean = mean_JR.const_data_ptr<double>();
    for (size_t j = 0; j < row.labels.size(); ++j) {
      for (auto& map : maps) map.back().weights.push_back(*mean++);
    }
  }
  return maps;
}

}  // namespace leadline::model
