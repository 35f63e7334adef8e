// A training of a small decoder, step by step, without a loop around it.
//
// Shape suffixes: R replicas.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "model/decoder.h"
#include "model/spec/settings.h"
#include "worker/checkpoint/manifest.h"
#include "worker/collective/communicator.h"
#include "worker/trainer/adam_w.h"
#include "worker/trainer/batches.h"
#include "worker/trainer/gradient.h"
#include "worker/trainer/replica_health.h"
#include "worker/trainer/schedule.h"

namespace leadline::exact {

/// What one step left behind.
struct StepResult {
  torch::Tensor loss_R;
  torch::Tensor norm_R;
  torch::Tensor factor_R;
};

/// A training of some seeds on a text in which the next symbol follows from the
/// last, but for a coin.
class Training {
 public:
  Training(const spec::Settings& settings, const std::vector<int64_t>& seeds,
           const torch::TensorOptions& type);

  StepResult Step();

  /// Losses [steps, R].
  torch::Tensor Losses(int64_t steps);

  /// Writes a checkpoint, and goes on from one of these seeds.
  void Save(const std::filesystem::path& folder) const;
  void Load(const std::filesystem::path& folder);

  const trainer::AdamW& optimizer() const { return optimizer_; }

  model::Decoder decoder;
  trainer::ReplicaHealth health;

 private:
  spec::Settings settings_;
  std::vector<int64_t> seeds_;
  std::vector<uint16_t> text_;
  trainer::Batches batches_;
  std::unique_ptr<collective::Communicator> communicator_;
  trainer::Gradient gradient_;
  trainer::AdamW optimizer_;
  trainer::Schedule schedule_;
  int64_t step_ = 0;
};

/// Settings of three layers and a hundred steps at a rate of 1e-3.
spec::Settings Trained(const std::string& method, const char* precision,
                       const spec::GivenSettings& extra = {});

/// A checkpoint's manifest for a decoder of the small world, files left out.
checkpoint::Manifest ManifestOf(const spec::Settings& settings,
                                const std::vector<int64_t>& seeds,
                                int64_t step);

}  // namespace leadline::exact
