// How the ranks of an attempt exchange tensors.

#pragma once

#include <cstdint>
#include <memory>

#include <torch/torch.h>

namespace leadline::collective {

/// All ranks make the same calls in the same order; a call returns when this
/// rank's tensor is done, and throws if a rank is gone. Owned by one thread.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int64_t size() const = 0;
  virtual int64_t rank() const = 0;

  /// Replaces `tensor` by its sum over the ranks, which is the same bits on
  /// each and, for a given number of ranks, on every run.
  virtual void AllReduce(torch::Tensor& tensor) = 0;

  /// Replaces `tensor` by that of rank `root`.
  virtual void Broadcast(torch::Tensor& tensor, int64_t root) = 0;

  /// Returns once every rank has called it.
  virtual void Barrier() = 0;
};

/// A world of one rank, which has nobody to wait for.
std::unique_ptr<Communicator> MakeSoloCommunicator();

}  // namespace leadline::collective
