#include "worker/trainer/device_memory.h"

#include <c10/core/CachingDeviceAllocator.h>

#include "worker/trainer/process_memory.h"

namespace leadline::trainer {

int64_t PeakDeviceBytes(const c10::Device& device) {
  if (device.is_cpu()) return PeakResidentBytes();
  const auto all =
      static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  const c10::DeviceIndex index = device.has_index() ? device.index() : 0;
  return at::getDeviceAllocator(device.type())
      ->getDeviceStats(index)
      .allocated_bytes[all]
      .peak;
}

}  // namespace leadline::trainer
