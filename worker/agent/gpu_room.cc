#include "worker/agent/gpu_room.h"

#include <algorithm>
#include <cstdio>

namespace leadline::agent {
namespace {

// A driver keeps some hundred MiB even where nobody uses a GPU.
constexpr int64_t kDriversShare = int64_t{1} << 30;

std::string Size(int64_t bytes) {
  constexpr double kMebi = 1 << 20;
  const double mebibytes = static_cast<double>(bytes) / kMebi;
  char text[32];
  if (mebibytes < 1024) {
    std::snprintf(text, sizeof text, "%.0f MiB", mebibytes);
  } else {
    std::snprintf(text, sizeof text, "%.1f GiB", mebibytes / 1024);
  }
  return text;
}

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
    return gpu.uuid + " has " + Size(*gpu.free_bytes) + " free of " +
           Size(gpu.memory_bytes) + ", and " + Size(bytes) +
           " are needed: a process that is not ours uses it (nvidia-smi names "
           "it)";
  }
  return "";
}

}  // namespace leadline::agent
