// Whether the kernels of this build run on a device: its architecture may be
// one they were not built for.

#pragma once

#include <cuda_runtime_api.h>

namespace leadline::cuda_module {

/// Runs a small kernel on the current device and checks its answer.
cudaError_t ProbeCurrentDevice();

}  // namespace leadline::cuda_module
