#include "worker/agent/gpu_room.h"

#include <algorithm>

#include "common/human_number.h"

namespace leadline::agent {
namespace {

// A driver keeps some hundred MiB even where nobody uses a GPU.
constexpr int64_t kDriversShare = int64_t{1} << 30;

bool WaitingHelps(const Gpu& gpu, int64_t bytes) {
  return gpu.free_bytes && *gpu.free_bytes < bytes &&
         bytes <= gpu.memory_bytes &&
         gpu.memory_bytes - *gpu.free_bytes > kDriversShare;
}

}  // namespace

std::string WhyNoRoom(std::span<const Gpu> gpus,
                      std::span<const std::string> wanted, int64_t bytes) {
  for (const Gpu& gpu : gpus) {
    const bool is_wanted = std::ranges::find(wanted, gpu.uuid) != wanted.end();
    if (!is_wanted || !WaitingHelps(gpu, bytes)) continue;
    return gpu.uuid + " has " + HumanBytes(*gpu.free_bytes) + " free of " +
           HumanBytes(gpu.memory_bytes) + ", and " + HumanBytes(bytes) +
           " are needed: a process that is not ours uses it (nvidia-smi names "
           "it)";
  }
  return "";
}

}  // namespace leadline::agent
