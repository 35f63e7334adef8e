// AdamW with everything that is per replica kept per replica: norms, clipping,
// and which replicas still move.
//
// Shape suffixes: R replicas.

#pragma once

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::trainer {

/// Decoupled decay (with the value before the step) on parameters marked for
/// it, on all under `decay_all`; the method's own parameters learn at
/// `router_lr_mult` times the rate, and a parameter at its own factor of that.
/// Gradients are read from the parameters'
/// `grad`; one that is undefined is exactly zero. On a CPU two loops of our own
/// go over contiguous parameters, elsewhere tensor operations whose number does
/// not depend on R. Keeps two moments of the size of the parameters. Owned by
/// one thread.
class AdamW {
 public:
  AdamW(const std::vector<model::NamedParameter>& parameters,
        const spec::Settings& settings);

  /// 2-norm over all parameters of each replica, [R], float64.
  torch::Tensor GradientNorms_R() const;

  /// min(1, clip / (norm + 1e-6)), [R]; ones where clipping is off.
  torch::Tensor ClipFactors_R(const torch::Tensor& norms_R) const;

  /// One step, `step` from 0, for the replicas that are alive; the others'
  /// values and moments stay as they are, whatever their gradients hold.
  void Step(const torch::Tensor& factors_R, const torch::Tensor& alive_R,
            double learning_rate, int64_t step);

  /// Those that are trained: with `freeze_base` the method's own alone.
  const std::vector<model::NamedParameter>& parameters() const {
    return parameters_;
  }
  /// In the order of the parameters.
  const std::vector<torch::Tensor>& first_moments() const { return moments1_; }
  const std::vector<torch::Tensor>& second_moments() const { return moments2_; }

  /// Always by tensor operations: what the loops are held against in tests.
  void UsePortable() { loops_ = false; }

 private:
  double Decay(const model::NamedParameter& parameter) const;
  double RateFactor(const model::NamedParameter& parameter) const;
  void StepByLoops(const torch::Tensor& factors_R, const torch::Tensor& alive_R,
                   double learning_rate, int64_t step);
  void StepPortable(const torch::Tensor& factors_R,
                    const torch::Tensor& alive_R, double learning_rate,
                    int64_t step);

  std::vector<model::NamedParameter> parameters_;
  std::vector<torch::Tensor> moments1_;
  std::vector<torch::Tensor> moments2_;
  bool loops_;
  double beta1_, beta2_, eps_, weight_decay_, router_lr_mult_;
  bool decay_all_;
  std::optional<double> clip_;
};

}  // namespace leadline::trainer
