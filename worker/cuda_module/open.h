// Opens libleadline_cuda.so, the half of the trainer that a CPU machine does
// without.

#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "worker/collective/nccl/device_queue.h"

namespace leadline::cuda_module {

/// The folder of the running program, where the module lies.
std::filesystem::path ProgramFolder();

/// Opens the module in `folder` for the rest of the process. Returns what the
/// user must know when it cannot be opened, nothing when it is open (also when
/// it was before). To be called before the first torch call, or torch will not
/// see the devices.
std::optional<std::string> Open(const std::filesystem::path& folder);

struct Device {
  int index = 0;
  std::string name;
  std::string uuid;
  int64_t memory_bytes = 0;
  std::string compute_capability;  // "9.0"
  std::string error;               // why our kernels do not run on it, or empty
};

/// What the opened module sees. Stored with an attempt.
struct Description {
  std::string cuda_runtime;
  std::string cuda_driver;  // empty where there is none
  std::string nccl;
  std::string error;  // why no device can be used, or empty
  std::vector<Device> devices;
};

/// Asks the module in `folder`, which Open has opened. Throws
/// std::runtime_error where it is not open or its answer cannot be read.
Description Describe(const std::filesystem::path& folder);

/// The queues of "cuda:<index>", which becomes the calling thread's device,
/// from the module in `folder`, which Open has opened. Throws
/// std::runtime_error where it is not open, and c10::Error where the device
/// cannot be used.
std::shared_ptr<collective::DeviceQueue> MakeDeviceQueue(
    const std::filesystem::path& folder, const std::string& device);

/// What stands in the way of training on "cuda:<index>", or nothing. `device`
/// is the text of the configuration.
std::optional<std::string> Refusal(const Description& description,
                                   const std::string& device);

/// What stands in the way of a trainer that an agent started: it is given one
/// device and sees no other, or it might train on somebody else's.
std::optional<std::string> WhyNotAlone(const Description& description);

}  // namespace leadline::cuda_module
