// What an agent offers of its machine: GPUs, CPU slots, or both.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "worker/agent/device_prober.h"
#include "worker/agent/devices.h"

namespace leadline::agent {

struct OfferWishes {
  std::optional<int64_t> slots;        // of the CPU, as asked for
  int64_t cores = 1;                   // that this process may run on
  std::string devices;                 // see ChosenGpus
  std::optional<std::string> visible;  // CUDA_VISIBLE_DEVICES
  bool trains_on_gpus = true;          // the trainer can
};

struct Offer {
  std::vector<HeldDevice> devices;  // GPUs first
  std::vector<std::string> notes;   // what was left out and why, for the log
};

/// With GPUs, CPU slots are offered only if asked for: a trainer on a GPU needs
/// a core too. The machine is not asked about GPUs where nobody wants any.
/// InvalidArgument or FailedPrecondition with what to do if GPUs were asked for
/// and are not there, or are there and cannot be used.
absl::StatusOr<Offer> MakeOffer(const OfferWishes& wishes,
                                DeviceProber& prober);

}  // namespace leadline::agent
