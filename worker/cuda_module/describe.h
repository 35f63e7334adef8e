// The C interface of libleadline_cuda.so: what its CUDA runtime, NCCL and torch
// see on this machine.

#pragma once

#include <cstddef>

extern "C" {

/// Writes JSON text and a closing NUL into `buffer` as far as `size` allows,
/// and returns the length of the whole text, as snprintf does. Not thread-safe.
///
///   {"cuda_runtime": "13.0", "cuda_driver": "13.0" or null, "nccl": "2.28.9",
///   "error": text or null,
///    "devices": [{"index", "name", "uuid", "memory_bytes",
///    "compute_capability", "multiprocessors",
///                 "error": text or null}]}
///
/// `error` says why no device can be used. A device's own says why our kernels
/// do not run on it.
size_t leadline_cuda_describe(char* buffer, size_t size);
}
