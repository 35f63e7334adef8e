// The device memory this process has used.

#pragma once

#include <cstdint>

#include <c10/core/Device.h>

namespace leadline::trainer {

/// Most bytes that tensors held on the device so far; on a CPU the largest
/// resident size of the process.
int64_t PeakDeviceBytes(const c10::Device& device);

}  // namespace leadline::trainer
