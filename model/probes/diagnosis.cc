#include "model/probes/diagnosis.h"

#include <limits>
#include <string_view>
#include <utility>
#include <variant>

#include "model/losses.h"
#include "model/probes/detail_probe.h"
#include "model/probes/layer_probe.h"
#include "model/probes/observer_list.h"
#include "model/probes/parameter_figures.h"
#include "model/probes/routing_probe.h"
#include "model/probes/source_probe.h"
#include "model/probes/streams_probe.h"

namespace leadline::model {
namespace {

using torch::Tensor;

/// Options belong to some methods only.
double NumberOr(const spec::Settings& settings, const char* key,
                double otherwise) {
  if (!settings.values().contains(key)) return otherwise;
  return settings.NumberUnlessWord(key).value_or(otherwise);
}

Tensor Queries(const Decoder& decoder) {
  for (const NamedParameter& parameter : decoder.parameters_in_order()) {
    if (parameter.name == "router.w") return parameter.tensor;
  }
  return {};
}

/// The backward pass, from the sum of all token losses, without touching any
/// `grad`. On its way it tells `layers` the gradients of updates.
void AddGradientFigures(const Decoder& decoder, const Tensor& losses_RBT,
                        const LayerProbe& layers, FigureTable& table) {
  std::vector<Tensor> by = {layers.embeddings_RBTD()};
  const Tensor queries_RQD = Queries(decoder);
  if (queries_RQD.defined()) by.push_back(queries_RQD);
  const std::vector<Tensor> gradients = torch::autograd::grad(
      {losses_RBT.sum()}, by, /*grad_outputs=*/{}, /*retain_graph=*/false,
      /*create_graph=*/false, /*allow_unused=*/true);
  if (!queries_RQD.defined()) return;
  const Tensor& dw_RQD = gradients[1];
  // Of the mean loss, as in training.
  const auto tokens = static_cast<double>(losses_RBT[0].numel());
  table.SetAll("router.w_grad_norm",
               (dw_RQD.defined() ? dw_RQD : torch::zeros_like(queries_RQD))
                       .to(torch::kFloat64)
                       .norm(2, -1) /
                   tokens);
}

}  // namespace

std::vector<Figures> Diagnose(const Decoder& decoder,
                              const spec::Settings& settings,
                              const Tensor& tokens_RBT,
                              const Tensor& targets_RBT) {
  const double eps = settings.Number("norm_eps");
  FigureTable table;
  RoutingProbe routing(
      static_cast<int64_t>(NumberOr(settings, "block_sublayers", 1)), table);
  SourceProbe sources(table);
  DetailProbe details(
      NumberOr(settings, "rho", std::numeric_limits<double>::infinity()),
      table);
  LayerProbe layers(eps, settings.method().starts_with("delta_"), table);
  StreamsProbe streams(eps, table);
  ObserverList all({&routing, &sources, &details, &layers, &streams});
  const torch::AutoGradMode with_grad(true);
  const Tensor losses_RBT =
      TokenLosses(decoder.Forward(tokens_RBT, {.observer = &all}), targets_RBT);
  AddGradientFigures(decoder, losses_RBT, layers, table);
  AddParameterFigures(decoder, table);

  std::vector<std::vector<RouterRow>> maps = routing.Finish(decoder.replicas());
  auto values = table.Read(decoder.replicas());
  std::vector<Figures> figures;
  for (size_t r = 0; r < values.size(); ++r) {
    figures.push_back({std::move(maps[r]), std::move(values[r])});
  }
  return figures;
}

}  // namespace leadline::model
