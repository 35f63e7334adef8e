// All figures of one batch: docs/diagnostics.md.
//
// Shape suffixes: R replicas, B sequences, T tokens.

#pragma once

#include <vector>

#include <torch/torch.h>

#include "model/decoder.h"
#include "model/probes/figures.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// One forward and one backward pass without dropout; one result a replica.
/// Parameters and their gradients stay as they are. `settings` are those the
/// decoder was made from.
std::vector<Figures> Diagnose(const Decoder& decoder,
                              const spec::Settings& settings,
                              const torch::Tensor& tokens_RBT,
                              const torch::Tensor& targets_RBT);

}  // namespace leadline::model
