// The C interface of libleadline_cuda.so to a device's queues.

#pragma once

#include "worker/collective/nccl/device_queue.h"

extern "C" {

/// The queues of a device, which becomes that of the calling thread; the caller
/// owns them. Throws c10::Error where the device cannot be used, as what it
/// returns does.
leadline::collective::DeviceQueue* leadline_cuda_queue(int index);
}
