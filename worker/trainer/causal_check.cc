#include "worker/trainer/causal_check.h"

#include <string>

#include "model/probes/source_family.h"

namespace leadline::trainer {
namespace {

using torch::Tensor;

void Add(const std::string& name, const Tensor& values_R,
         std::vector<model::Figures>& figures) {
  const Tensor values = values_R.to(torch::kFloat64).cpu().contiguous();
  for (size_t r = 0; r < figures.size(); ++r) {
    figures[r].values[name].push_back(values.const_data_ptr<double>()[r]);
  }
}

}  // namespace

void AddCausalFigures(const model::Decoder& decoder,
                      std::span<const uint16_t> symbols,
                      const std::vector<Window>& windows,
                      const Tensor& losses_RP, const torch::Device& device,
                      const Breather& breathe,
                      std::vector<model::Figures>& figures,
                      collective::Communicator* communicator) {
  // The same for all replicas: sources follow from the configuration.
  for (const model::SourceFamily& family :
       model::FamiliesOf(figures.at(0).map)) {
    model::WithoutFamily without(family);
    const Tensor change_RP = EvaluateFixed(decoder, symbols, windows, device,
                                           breathe, &without, communicator) -
                             losses_RP;
    const std::string name = "causal." + family.name;
    const auto count = static_cast<double>(change_RP.size(1));
    Add(name, change_RP.mean(1), figures);
    Add(name + ".se", change_RP.std(1) / std::sqrt(count), figures);
  }
}

}  // namespace leadline::trainer
