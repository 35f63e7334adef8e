// The binary interface of NCCL, as far as ranks need it: its header is no part
// of what a machine without devices has. Facts from NVIDIA's "NCCL User Guide";
// abi_check.cc holds them against the header where there is one.

#pragma once

#include <array>
#include <climits>
#include <cstddef>

namespace leadline::collective::nccl {

/// The first version whose communicators can be set up without blocking.
inline constexpr int kOldestVersion = 21400;

struct OpaqueCommunicator;
using Handle = OpaqueCommunicator*;  // ncclComm_t
using Stream = void*;                // cudaStream_t

enum class Result : int {
  kSuccess = 0,
  kUnhandledCudaError,
  kSystemError,
  kInternalError,
  kInvalidArgument,
  kInvalidUsage,
  kRemoteError,
  kInProgress,
};

enum class DataType : int {
  kUint8 = 1,
  kInt64 = 4,
  kFloat32 = 7,
  kFloat64 = 8,
};

enum class Reduction : int { kSum = 0 };

struct UniqueId {
  std::array<char, 128> bytes{};
};

/// Of version 2.14: later ones take the shorter configurations of those before
/// them, and choose for themselves what these did not have.
struct Config {
  size_t size = 24;
  unsigned int magic = 0xcafebeef;
  unsigned int version = kOldestVersion;
  int blocking = 0;
  int undefined = INT_MIN;  // the size is a multiple of eight
};

struct Functions {
  Result (*get_version)(int*) = nullptr;
  Result (*get_unique_id)(UniqueId*) = nullptr;
  Result (*init_rank)(Handle*, int ranks, UniqueId, int rank,
                      Config*) = nullptr;
  Result (*get_async_error)(Handle, Result*) = nullptr;
  Result (*abort)(Handle) = nullptr;
  Result (*finalize)(Handle) = nullptr;
  Result (*destroy)(Handle) = nullptr;
  Result (*all_reduce)(const void* from, void* to, size_t count, DataType,
                       Reduction, Handle, Stream) = nullptr;
  Result (*broadcast)(const void* from, void* to, size_t count, DataType,
                      int root, Handle, Stream) = nullptr;
  const char* (*get_error_string)(Result) = nullptr;
  const char* (*get_last_error)(Handle) = nullptr;
};

}  // namespace leadline::collective::nccl
