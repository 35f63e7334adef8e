#include "worker/agent/devices.h"

#include <algorithm>

#include <sched.h>
#include <unistd.h>

namespace leadline::agent {

std::vector<HeldDevice> CpuSlots(int64_t slots) {
  const int64_t memory = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
                         static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  std::vector<HeldDevice> devices;
  for (int64_t slot = 0; slot < slots; ++slot) {
    devices.push_back(
        {"cpu:" + std::to_string(slot), "cpu", memory / slots, kCpuDevice});
  }
  return devices;
}

int64_t CountCores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return std::max<int64_t>(CPU_COUNT(&cores), 1);
}

std::vector<const HeldDevice*> SelectDevices(
    std::span<const HeldDevice> devices, std::span<const std::string> ids) {
  std::vector<const HeldDevice*> selected;
  for (const std::string& id : ids) {
    const auto found =
        std::find_if(devices.begin(), devices.end(),
                     [&](const HeldDevice& device) { return device.id == id; });
    if (found == devices.end() ||
        std::find(selected.begin(), selected.end(), &*found) !=
            selected.end() ||
        (!selected.empty() && selected.front()->type != found->type)) {
      return {};
    }
    selected.push_back(&*found);
  }
  return selected;
}

}  // namespace leadline::agent
