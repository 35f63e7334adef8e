#include "model/probes/routing_probe.h"

#include <string_view>
#include <utility>

namespace leadline::model {
namespace {

/// Which part of the detail mass a source belongs to; empty for no detail.
std::string_view DetailPart(std::string_view label) {
  if (label.starts_with("Dphi")) return "route.detail_mass.phase_finished";
  if (label.starts_with("Dsig")) return "route.detail_mass.split_finished";
  if (label == "Pphi") return "route.detail_mass.phase_partial";
  if (label == "Psig") return "route.detail_mass.split_partial";
  return {};
}

/// Means over tokens, [J, R] or [R], as doubles on the host.
torch::Tensor TokenMean(const torch::Tensor& values) {
  return values.mean({-2, -1}).cpu().contiguous();
}

/// Values by name of one router in one replica.
std::map<std::string, double> DetailMasses(const RouterRow& row) {
  std::map<std::string, double> masses = {
      {"route.detail_mass", 0},
      {"route.detail_mass.phase_finished", 0},
      {"route.detail_mass.phase_partial", 0},
      {"route.detail_mass.split_finished", 0},
      {"route.detail_mass.split_partial", 0}};
  for (size_t j = 0; j < row.sources.size(); ++j) {
    const std::string_view part = DetailPart(row.sources[j]);
    if (part.empty()) continue;
    masses["route.detail_mass"] += row.weights[j];
    masses[std::string(part)] += row.weights[j];
  }
  return masses;
}

double EmbeddingMass(const RouterRow& row) {
  double mass = 0;
  for (size_t j = 0; j < row.sources.size(); ++j) {
    if (row.sources[j] == "e") mass += row.weights[j];
  }
  return mass;
}

}  // namespace

void RoutingProbe::OnRoute(const RouteRecord& record) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor a_JRBT = record.weights_JRBT.to(torch::kFloat64);
  const torch::Tensor mean_JR = TokenMean(a_JRBT);
  const torch::Tensor max_R = TokenMean(a_JRBT.amax(0));
  const torch::Tensor entropy_R =
      TokenMean(-torch::xlogy(a_JRBT, a_JRBT).sum(0));
  const auto replicas = static_cast<int64_t>(summaries_.size());
  for (int64_t r = 0; r < replicas; ++r) {
    RouterRow row{record.labels, {}};
    for (int64_t j = 0; j < mean_JR.size(0); ++j) {
      row.weights.push_back(mean_JR.const_data_ptr<double>()[j * replicas + r]);
    }
    auto& statistics = summaries_[r].statistics;
    statistics["route.max_weight"].push_back(max_R.const_data_ptr<double>()[r]);
    statistics["route.entropy"].push_back(
        entropy_R.const_data_ptr<double>()[r]);
    statistics["route.embedding_mass"].push_back(EmbeddingMass(row));
    for (const auto& [name, mass] : DetailMasses(row)) {
      statistics[name].push_back(mass);
    }
    summaries_[r].map.push_back(std::move(row));
  }
}

}  // namespace leadline::model
