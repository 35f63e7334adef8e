// Measures whether a step of training gives the same numbers when it is
// computed again.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "common/determinism.h"
#include "model/decoder.h"
#include "worker/collective/communicator.h"

namespace leadline::trainer {

/// What one computation of a step read and gave; gradients are the parameters'.
struct ComputedStep {
  torch::Tensor tokens_RBT;
  torch::Tensor loss_R;
};

struct DeterminismReport {
  /// The worst of all ranks.
  Determinism determinism = Determinism::kUnknown;
  /// What differs first on this rank, in the order of computation: "tokens",
  /// "loss", or "gradient of NAME"; empty where nothing does.
  std::string first{};
  /// Of any gradient of any replica on this rank, between the second and the
  /// third computation: the norm of the difference over the norm.
  double largest = 0;
};

/// The largest relative difference that another order of sums may make in the
/// precision of a setting: "fp64", "fp32" or "bf16".
double RepeatTolerance(const std::string& precision);

/// Calls `compute`, which leaves new gradients in the decoder's parameters,
/// twice, and once more where any rank met other bits: by how much is asked
/// only then, so that nothing is held beside the training otherwise. Replicas
/// that are not among `alive` do not count; with none of them nothing is
/// computed. All ranks call it at once.
DeterminismReport CheckDeterminism(const model::Decoder& decoder,
                                   const std::vector<int64_t>& alive,
                                   collective::Communicator& communicator,
                                   const std::function<ComputedStep()>& compute,
                                   double tolerance);

/// For the log, where the numbers are not the same bits: what differs first.
std::string Explain(const DeterminismReport& report);

}  // namespace leadline::trainer
