// Sums gradients over the ranks while the backward pass computes others.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/torch.h>

#include "model/parameters.h"
#include "worker/collective/communicator.h"

namespace leadline::trainer {

/// Parameters stand in buckets of a fixed size, in the order in which they are
/// given: best that in which their gradients come. A bucket is on its way once
/// all gradients of it and of those before it are there, so that all ranks send
/// the same in the same order. Borrows the communicator. Owned by one thread.
class GradientBuckets {
 public:
  /// Of one bucket, unless a single gradient is larger.
  static constexpr int64_t kBytes = int64_t{1} << 20U;

  /// Without `overlap` nothing is sent before Finish.
  GradientBuckets(const std::vector<model::NamedParameter>& parameters,
                  collective::Communicator& communicator, bool overlap,
                  int64_t bytes = kBytes);
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;
  ~GradientBuckets();

  /// The backward pass that follows is the last of this step.
  void Arm();

  /// Leaves the means over the ranks in the parameters' `grad`. Gradients that
  /// are undefined stay so: they are on every rank or on none.
  void Finish();

  int64_t buckets() const { return static_cast<int64_t>(buckets_.size()); }
  /// How many were sent since Arm.
  int64_t on_their_way() const { return static_cast<int64_t>(next_); }

 private:
  struct Bucket {
    std::vector<torch::Tensor> parameters;
    torch::Tensor flat;  // their gradients, one after the other
    int64_t elements = 0;
    size_t missing = 0;
    uint64_t operation = 0;
  };
  struct Hook;

  void Take(size_t bucket);
  void Send(Bucket& bucket);

  collective::Communicator& communicator_;
  bool overlap_;
  bool armed_ = false;
  size_t next_ = 0;  // bucket that is to be sent
  std::vector<Bucket> buckets_;
};

}  // namespace leadline::trainer
