// Which replicas still train, and why the others do not.
//
// Shape suffixes: R replicas.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "worker/trainer/events.h"

namespace leadline::trainer {

/// A replica ends at its first non-finite loss or gradient norm, at its first
/// loss above the limit, or when it is dropped; the others go on. Judged on the
/// device, read when asked. Owned by one thread.
class ReplicaHealth {
 public:
  ReplicaHealth(std::vector<int64_t> seeds, std::optional<double> loss_limit,
                const torch::Device& device);

  /// Takes loss and gradient norm of step number `step`, counted from 1. Does
  /// not wait for the device.
  void Judge(const torch::Tensor& loss_R, const torch::Tensor& norm_R,
             int64_t step);

  /// Takes effect from the next step; nothing if it has ended already.
  void Drop(int64_t replica, int64_t step);

  /// True where the replica trains, on the device.
  const torch::Tensor& alive_R() const { return alive_R_; }

  /// How a replica ended: "loss", "norm", "limit", "dropped"; "" while it
  /// trains.
  struct Ending {
    std::string cause;
    int64_t step = 0;
  };

  /// Of each replica. Waits for the device.
  std::vector<Ending> Save() const;
  /// Read tells again of those that have ended.
  void Restore(const std::vector<Ending>& endings);

  /// Those that ended since the last call. Waits for the device.
  std::vector<ReplicaEndEvent> Read();

  /// As of the last Read.
  bool IsAlive(int64_t replica) const { return !ends_[replica]; }
  bool AnyAlive() const;
  bool AnyDiverged() const;

 private:
  std::vector<int64_t> seeds_;
  std::optional<double> loss_limit_;
  torch::Tensor alive_R_;
  torch::Tensor cause_R_;  // int64, of Cause
  torch::Tensor step_R_;   // int64
  std::vector<std::optional<ReplicaEndEvent>> ends_;
};

}  // namespace leadline::trainer
