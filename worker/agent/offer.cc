#include "worker/agent/offer.h"

#include <utility>

#include <absl/status/status.h>

#include "worker/agent/gpu_choice.h"

namespace leadline::agent {
namespace {

constexpr char kNone[] = "none";

bool AsksForGpus(const OfferWishes& wishes) {
  return !wishes.devices.empty() && wishes.devices != kNone;
}

/// Every trainer sees its own GPU alone, as the first.
HeldDevice ToDevice(const Gpu& gpu) {
  return {gpu.uuid, gpu.name, gpu.memory_bytes, "cuda:0"};
}

absl::StatusOr<std::vector<Gpu>> ListUsable(const OfferWishes& wishes,
                                            DeviceProber& prober,
                                            Offer& offer) {
  if (wishes.devices == kNone) return std::vector<Gpu>{};
  absl::StatusOr<GpuList> list = prober.ListGpus();
  if (!list.ok()) return list.status();
  offer.notes = std::move(list->problems);
  if (AsksForGpus(wishes) && list->gpus.empty()) {
    return absl::FailedPreconditionError(
        "--devices asks for GPUs, and this machine offers none: " +
        (list->none_because.empty() ? offer.notes.front()
                                    : list->none_because));
  }
  auto visible = VisibleGpus(list->gpus, wishes.visible);
  if (!visible.ok()) return visible.status();
  return ChosenGpus(*visible, wishes.devices);
}

}  // namespace

absl::StatusOr<Offer> MakeOffer(const OfferWishes& wishes,
                                DeviceProber& prober) {
  Offer offer;
  auto gpus = ListUsable(wishes, prober, offer);
  if (!gpus.ok()) return gpus.status();
  if (!gpus->empty() && !wishes.trains_on_gpus) {
    const std::string why =
        "the trainer was built without its CUDA module "
        "(libleadline_cuda.so beside it)";
    if (AsksForGpus(wishes)) {
      return absl::FailedPreconditionError("--devices asks for GPUs, but " +
                                           why);
    }
    offer.notes.push_back("GPUs are not offered: " + why);
    gpus->clear();
  }
  for (const Gpu& gpu : *gpus) offer.devices.push_back(ToDevice(gpu));
  const int64_t slots = wishes.slots.value_or(gpus->empty() ? wishes.cores : 0);
  for (HeldDevice& slot : CpuSlots(slots)) {
    offer.devices.push_back(std::move(slot));
  }
  return offer;
}

}  // namespace leadline::agent
