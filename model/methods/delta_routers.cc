#include "model/methods/delta_routers.h"

namespace leadline::model {
namespace {

using torch::Tensor;

/// With the null source, where it has a value.
std::vector<int64_t> AllSources(std::vector<int64_t> sources,
                                const NullSources& nulls) {
  for (int64_t& count : sources) {
    if (count > 0 && nulls.have_values()) ++count;
  }
  return sources;
}

}  // namespace

Tensor DeltaStream::Read(int64_t sublayer,
                         const std::vector<Candidate>& candidates) const {
  const Tensor routed_RBTD =
      routers_.Route(sublayer, candidates, {}, nulls_.at(sublayer));
  if (gates_.empty()) return h_RBTD_ + routed_RBTD;
  return torch::addcmul(h_RBTD_, routed_RBTD, gates_.at(sublayer));
}

DeltaRouters::DeltaRouters(const spec::Settings& settings,
                           std::vector<int64_t> sources, int64_t width,
                           ParameterList& parameters)
    : sources_(std::move(sources)),
      nulls_(settings, static_cast<int64_t>(sources_.size()), width,
             parameters),
      routers_(settings, AllSources(sources_, nulls_), width, parameters) {
  if (settings.Word("gate") != "scalar") return;
  gate_Rn_ =
      parameters.Constant("delta.gate", {static_cast<int64_t>(sources_.size())},
                          0, {.of_method = true});
}

DeltaStream DeltaRouters::Begin(const Tensor& x_RBTD,
                                RouterObserver* observer) const {
  std::vector<Tensor> gates;
  if (gate_Rn_.defined()) {
    gates = gate_Rn_.unsqueeze(-1).unsqueeze(-1).unsqueeze(-1).unbind(1);
  }
  return {x_RBTD, routers_.Begin(observer), std::move(gates), nulls_.Begin()};
}

double DeltaRouters::StreamScale(int64_t sublayer) const {
  const auto routers = static_cast<int64_t>(sources_.size());
  if (sublayer == routers || sources_.at(sublayer) == 0) return 1;
  return 1 + 1 / static_cast<double>(sources_.at(sublayer) +
                                     (nulls_.exist() ? 1 : 0));
}

}  // namespace leadline::model
