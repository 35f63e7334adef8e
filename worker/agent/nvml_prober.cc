#include "worker/agent/nvml_prober.h"

#include <array>
#include <memory>

#include <absl/status/status.h>
#include <dlfcn.h>

namespace leadline::agent {
namespace {

// The library's binary interface, from NVIDIA's "NVML API Reference": its
// header is no part of what a machine with GPUs has.
using Handle = void*;
struct Memory {
  unsigned long long total, free, used;
};
enum Result : int {
  kSuccess = 0,
  kNoPermission = 4,
  kDriverNotLoaded = 9,
  kGpuIsLost = 15,
  kVersionMismatch = 18,
};
constexpr unsigned int kTextBytes = 96;
constexpr unsigned int kMostGpus = 1024;

struct Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned int*) = nullptr;
  int (*handle)(unsigned int, Handle*) = nullptr;
  int (*uuid)(Handle, char*, unsigned int) = nullptr;
  int (*name)(Handle, char*, unsigned int) = nullptr;
  int (*memory)(Handle, Memory*) = nullptr;
  const char* (*text)(int) = nullptr;
};

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool FindAll(void* library, Functions& functions) {
  return Find(library, "nvmlInit_v2", functions.init) &&
         Find(library, "nvmlShutdown", functions.shutdown) &&
         Find(library, "nvmlDeviceGetCount_v2", functions.count) &&
         Find(library, "nvmlDeviceGetHandleByIndex_v2", functions.handle) &&
         Find(library, "nvmlDeviceGetUUID", functions.uuid) &&
         Find(library, "nvmlDeviceGetName", functions.name) &&
         Find(library, "nvmlDeviceGetMemoryInfo", functions.memory) &&
         Find(library, "nvmlErrorString", functions.text);
}

std::string Text(const Functions& nvml, int result) {
  const char* text = nvml.text(result);
  return (text == nullptr ? "error" : std::string(text)) + " (NVML " +
         std::to_string(result) + ")";
}

std::string Remedy(int result) {
  switch (result) {
    case kNoPermission:
      return "; let this user read and write /dev/nvidia*, or say --devices "
             "none";
    case kVersionMismatch:
      return "; the driver was updated: restart the machine or reload its "
             "module, or say --devices none";
    case kGpuIsLost:
      return "; it must be reset, or the machine started anew";
    default:
      return "; see what nvidia-smi says, or say --devices none";
  }
}

absl::Status Failed(const Functions& nvml, int result, const char* doing) {
  return absl::FailedPreconditionError(std::string(doing) + ": " +
                                       Text(nvml, result) + Remedy(result));
}

/// One GPU; the first call that fails ends it.
int Read(const Functions& nvml, unsigned int index, Gpu& gpu) {
  Handle handle = nullptr;
  std::array<char, kTextBytes> uuid{};
  std::array<char, kTextBytes> name{};
  Memory memory{};
  int result = nvml.handle(index, &handle);
  if (result == kSuccess) result = nvml.uuid(handle, uuid.data(), kTextBytes);
  if (result == kSuccess) result = nvml.name(handle, name.data(), kTextBytes);
  if (result == kSuccess) result = nvml.memory(handle, &memory);
  uuid.back() = name.back() = '\0';
  gpu = {index, uuid.data(), name.data(), static_cast<int64_t>(memory.total),
         static_cast<int64_t>(memory.free)};
  return result;
}

absl::StatusOr<GpuList> List(const Functions& nvml) {
  unsigned int count = 0;
  if (const int result = nvml.count(&count); result != kSuccess) {
    return Failed(nvml, result, "counting GPUs");
  }
  GpuList list;
  if (count == 0) list.none_because = "the driver knows of none";
  for (unsigned int index = 0; index < count && index < kMostGpus; ++index) {
    Gpu gpu;
    const int result = Read(nvml, index, gpu);
    if (result == kSuccess) {
      list.gpus.push_back(std::move(gpu));
    } else {
      list.problems.push_back("GPU " + std::to_string(index) + ": " +
                              Text(nvml, result) + Remedy(result));
    }
  }
  return list;
}

}  // namespace

absl::StatusOr<GpuList> NvmlProber::ListGpus() {
  // Never closed: the driver's library does not bear to be loaded twice.
  void* library = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return GpuList{{}, {}, "there is no " + library_ + " on this machine"};
  }
  Functions nvml;
  if (!FindAll(library, nvml)) {
    return absl::FailedPreconditionError(
        library_ +
        " lacks functions of NVML 11 or later; update the driver, "
        "or say --devices none");
  }
  const int result = nvml.init();
  if (result == kDriverNotLoaded) {
    return GpuList{{}, {}, "the driver is not loaded"};
  }
  if (result != kSuccess) return Failed(nvml, result, "looking for GPUs");
  absl::StatusOr<GpuList> list = List(nvml);
  nvml.shutdown();
  return list;
}

}  // namespace leadline::agent
