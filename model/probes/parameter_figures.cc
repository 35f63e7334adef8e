#include "model/probes/parameter_figures.h"

#include <string>
#include <string_view>

namespace leadline::model {
namespace {

using torch::Tensor;

/// [R, I] of a parameter with at most one axis beside R.
Tensor Listed(const Tensor& value) { return value.view({value.size(0), -1}); }

/// Biases of both kinds, [R, n, 2] or [R, 2].
void AddBothBiases(const Tensor& beta, FigureTable& table) {
  table.SetAll("detail.beta.phase", Listed(beta.select(-1, 0).contiguous()));
  table.SetAll("detail.beta.split", Listed(beta.select(-1, 1).contiguous()));
}

Tensor RmsOverWidth(const Tensor& values_RID) {
  return values_RID.to(torch::kFloat64).square().mean(-1).sqrt();
}

void AddFigure(std::string_view name, const Tensor& value, FigureTable& table) {
  if (name == "router.w") {
    table.SetAll("router.w_norm", value.to(torch::kFloat64).norm(2, -1));
  } else if (name == "wav.beta") {
    AddBothBiases(value, table);
  } else if (name == "haares.beta") {
    table.SetAll("detail.beta.split", Listed(value));
  } else if (name == "router.null_logit") {
    table.SetAll("null.logit", Listed(value));
  } else if (name == "delta.gate") {
    table.SetAll("gate.value", Listed(value));
  } else if (name == "rezero.alpha") {
    table.SetAll("scale.alpha", Listed(value));
  } else if (name == "layerscale.lambda" || name == "block_layerscale.lambda") {
    table.SetAll("scale.lambda_rms", RmsOverWidth(value));
  } else if (name.starts_with("dwa.")) {
    table.SetAll("dwa.weights." + std::string(name.substr(4)), Listed(value));
  }
}

}  // namespace

void AddParameterFigures(const Decoder& decoder, FigureTable& table) {
  const torch::NoGradGuard no_grad;
  for (const auto* list :
       {&decoder.parameters_in_order(), &decoder.buffers_in_order()}) {
    for (const NamedParameter& parameter : *list) {
      AddFigure(parameter.name, parameter.tensor.detach(), table);
    }
  }
}

}  // namespace leadline::model
