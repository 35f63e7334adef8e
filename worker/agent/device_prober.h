// What GPUs a machine has.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

namespace leadline::agent {

struct Gpu {
  int64_t index = 0;  // on the machine, in the order of the bus
  std::string uuid;   // "GPU-8f6c..."
  std::string name;   // "NVIDIA H200"
  int64_t memory_bytes = 0;
  std::optional<int64_t> free_bytes = {};  // now; null: it does not say
};

struct GpuList {
  std::vector<Gpu> gpus;              // by index
  std::vector<std::string> problems;  // of those left out, in words
  std::string none_because;           // why there are none; else empty
};

class DeviceProber {
 public:
  virtual ~DeviceProber() = default;

  /// A machine without GPUs or without their driver has none. An error says
  /// that there may be some which cannot be used, and what to do.
  virtual absl::StatusOr<GpuList> ListGpus() = 0;
};

}  // namespace leadline::agent
