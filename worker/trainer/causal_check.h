// What sources are worth: the loss without them, less the loss with them.
//
// Shape suffixes: R replicas, P windows.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torch/torch.h>

#include "model/decoder.h"
#include "model/probes/figures.h"
#include "worker/trainer/evaluation.h"

namespace leadline::trainer {

/// Evaluates the windows once for each family of sources in the maps of
/// `figures`, left out of every router, and adds to each replica's figures
/// `causal.<family>`, the mean change of its loss in nats a symbol (above 0:
/// the family helps), and `causal.<family>.se`, the standard error of that mean
/// over windows. `losses_RP` are those of the whole model on these windows.
void AddCausalFigures(const model::Decoder& decoder,
                      std::span<const uint16_t> symbols,
                      const std::vector<Window>& windows,
                      const torch::Tensor& losses_RP,
                      const torch::Device& device, const Breather& breathe,
                      std::vector<model::Figures>& figures,
                      collective::Communicator* communicator = nullptr);

}  // namespace leadline::trainer
