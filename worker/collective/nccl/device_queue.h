// The order in which a device does what this rank asks of it. Its real
// implementation lies in the CUDA module.

#pragma once

#include <memory>

namespace leadline::collective {

/// A place in a queue. Thread-safe.
class DeviceMark {
 public:
  virtual ~DeviceMark() = default;
  /// Whether the device has come past it. Throws where the device failed.
  virtual bool IsDone() const = 0;
};

/// Two queues of one device: that of what torch computes, and one for what the
/// ranks exchange meanwhile. Made on the thread that sets the ranks up, whose
/// device it becomes. All throw where the device failed.
class DeviceQueue {
 public:
  virtual ~DeviceQueue() = default;

  /// The second queue, a cudaStream_t.
  virtual void* stream() = 0;

  /// What comes to the second queue from now on begins after all that the
  /// calling thread has asked torch to compute by now.
  virtual void FollowCompute() = 0;

  /// The place after all that is in the second queue by now.
  virtual std::shared_ptr<const DeviceMark> Mark() = 0;
};

}  // namespace leadline::collective
