// The gradient of one step's global batch.
//
// Shape suffixes: R replicas.

#pragma once

#include <cstdint>
#include <optional>

#include <torch/torch.h>

#include "model/decoder.h"
#include "model/spec/settings.h"
#include "worker/collective/communicator.h"
#include "worker/trainer/batches.h"
#include "worker/trainer/gradient_buckets.h"

namespace leadline::trainer {

/// Borrows everything it is given. Owned by one thread.
class Gradient {
 public:
  /// This rank takes its equal share of the global batch, in micro-batches.
  /// With `freeze_base` the base no longer asks for gradients.
  /// Of several ranks, gradients travel while others are computed, unless
  /// `overlap` is false.
  Gradient(const model::Decoder& decoder, const spec::Settings& settings,
           const Batches& batches, collective::Communicator& communicator,
           const torch::Device& device, bool overlap = true);

  /// Leaves in each parameter's `grad` the derivative of the sum over replicas
  /// of their mean token losses, so that each replica's part is what it would
  /// be alone. The mean is over all scored positions of the replica's global
  /// batch, each weighing the same. Returns these losses, [R] float64, the same
  /// on every rank. `step` counts from 0.
  torch::Tensor Compute(int64_t step);

 private:
  /// `counts_R` are the scored positions of the global batch; undefined where
  /// all are.
  torch::Tensor Loss_R(int64_t step, int64_t first,
                       const torch::Tensor& counts_R) const;
  torch::Tensor CountScored_R(int64_t step) const;

  const model::Decoder& decoder_;
  const Batches& batches_;
  collective::Communicator& communicator_;
  torch::Device device_;
  int64_t sequences_;                       // of this rank
  int64_t micro_batch_;                     // divides sequences_
  std::optional<GradientBuckets> buckets_;  // of several ranks
};

}  // namespace leadline::trainer
