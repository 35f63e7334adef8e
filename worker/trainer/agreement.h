// What the ranks of an attempt decide together, each asked for itself.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <torch/torch.h>

#include "worker/collective/communicator.h"
#include "worker/trainer/run_control.h"

namespace leadline::trainer {

/// Stops, dropped replicas and the moment of a checkpoint, the same on every
/// rank after the same step. A rank alone heeds what it is asked at once; of
/// several, each tells the others while a step is computed. Borrows what it is
/// given. Owned by one thread.
class Agreement {
 public:
  Agreement(collective::Communicator& communicator, RunControl& control,
            int64_t replicas);

  /// Between two steps: throws Stopped if any rank was asked to stop before
  /// the last step began. Then tells what this rank is asked by now, and
  /// whether it wants a checkpoint after the step that follows.
  void BeforeStep(bool wants_checkpoint);

  /// Replicas that any rank was told to drop.
  std::vector<int64_t> TakeDrops();

  /// After a step: true if any rank wanted a checkpoint now.
  bool CheckpointIsDue();

  /// Within other work, all ranks at the same place: throws Stopped if any was
  /// asked to stop.
  void Breathe();

 private:
  void Begin(bool wants_checkpoint);
  /// Waits for what was begun, if anything was.
  void End();
  [[noreturn]] void Stop(int64_t code, int64_t rank) const;
  void HeedOthers() const;

  collective::Communicator& communicator_;
  RunControl& control_;
  int64_t replicas_;
  torch::Tensor
      asked_;  // a code of each rank, a flag of each replica, one more
  std::optional<uint64_t> operation_;
  std::vector<int64_t> stops_;  // by rank, as of the last exchange
  std::vector<int64_t> drops_;
  bool checkpoint_ = false;
};

}  // namespace leadline::trainer
