// How the ranks of an attempt exchange tensors.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <torch/torch.h>

namespace leadline::collective {

/// Within which the ranks of an attempt find each other.
inline constexpr std::chrono::seconds kSetUpLimit{60};
/// Within which one operation ends.
inline constexpr std::chrono::seconds kOperationLimit{30};
/// Within which one ends that waits for another rank's disk.
inline constexpr std::chrono::minutes kLongestPause{10};

/// All ranks make the same calls in the same order. A call throws
/// OperationError if an operation did not come to its end; then nothing more
/// can be done. Owned by one thread.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int64_t size() const = 0;
  virtual int64_t rank() const = 0;
  /// What moves the values, with its version: "tcp ring 1"; empty for one rank.
  virtual std::string Transport() const = 0;

  /// The step of training that operations belong to from now on; ranks that
  /// are at different steps have lost each other.
  virtual void SetStep(int64_t step) = 0;

  /// Begins to replace `tensor` by its sum over the ranks, which is the same
  /// bits on each and, for a given number of ranks, on every run. It is
  /// contiguous, of float32, float64 or int64, and not to be touched until Wait
  /// of the number that is returned.
  virtual uint64_t StartAllReduce(const torch::Tensor& tensor) = 0;

  /// Returns once that operation is done on this rank.
  virtual void Wait(uint64_t operation) = 0;

  /// Both at once, for a tensor of any layout.
  virtual void AllReduce(torch::Tensor& tensor);

  /// Replaces `tensor` by that of rank `root`; of the types above, or uint8.
  virtual void Broadcast(torch::Tensor& tensor, int64_t root) = 0;

  /// Returns once every rank has called it; `patience` in place of the limit
  /// of other operations, where a rank may have much to do before.
  virtual void Barrier(
      std::chrono::milliseconds patience = kOperationLimit) = 0;

  /// Tells the others why this rank goes no further.
  virtual void Abort(const std::string& why) = 0;
};

/// A world of one rank, which has nobody to wait for.
std::unique_ptr<Communicator> MakeSoloCommunicator();

}  // namespace leadline::collective
