// GPUs as NVIDIA's management library tells of them. It comes with the driver,
// so it is opened at run time and nothing is linked.

#pragma once

#include <string>
#include <utility>

#include "worker/agent/device_prober.h"

namespace leadline::agent {

class NvmlProber final : public DeviceProber {
 public:
  /// A name the loader finds, or a path.
  explicit NvmlProber(std::string library) : library_(std::move(library)) {}

  absl::StatusOr<GpuList> ListGpus() override;

 private:
  const std::string library_;
};

}  // namespace leadline::agent
