#include "worker/agent/gpu_choice.h"

#include <algorithm>
#include <charconv>

#include <absl/status/status.h>

namespace leadline::agent {
namespace {

std::string WithoutBlanks(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// What stands between commas.
std::vector<std::string> Entries(const std::string& text) {
  std::vector<std::string> entries;
  size_t begin = 0;
  while (true) {
    const size_t comma = text.find(',', begin);
    entries.push_back(WithoutBlanks(text.substr(begin, comma - begin)));
    if (comma == std::string::npos) return entries;
    begin = comma + 1;
  }
}

/// By place, or by the beginning of a UUID that no other shares; null if none.
const Gpu* Find(const std::vector<Gpu>& gpus, const std::string& entry) {
  int64_t place = -1;
  const auto [end, error] =
      std::from_chars(entry.data(), entry.data() + entry.size(), place);
  if (error == std::errc() && end == entry.data() + entry.size()) {
    return place >= 0 && place < std::ssize(gpus) ? &gpus[place] : nullptr;
  }
  if (!entry.starts_with("GPU-")) return nullptr;
  const auto begins = [&](const Gpu& gpu) {
    return gpu.uuid.starts_with(entry);
  };
  if (std::ranges::count_if(gpus, begins) != 1) return nullptr;
  return &*std::ranges::find_if(gpus, begins);
}

bool Holds(const std::vector<Gpu>& gpus, const Gpu& gpu) {
  return std::ranges::any_of(
      gpus, [&](const Gpu& other) { return other.uuid == gpu.uuid; });
}

absl::Status NamedTwice(const std::string& where, const std::string& entry) {
  return absl::InvalidArgumentError(where + " names GPU " + entry + " twice");
}

}  // namespace

absl::StatusOr<std::vector<Gpu>> VisibleGpus(
    const std::vector<Gpu>& gpus, const std::optional<std::string>& visible) {
  if (!visible) return gpus;
  std::vector<Gpu> shown;
  for (const std::string& entry : Entries(*visible)) {
    const Gpu* gpu = Find(gpus, entry);
    if (gpu == nullptr) break;
    if (Holds(shown, *gpu)) return NamedTwice("CUDA_VISIBLE_DEVICES", entry);
    shown.push_back(*gpu);
  }
  return shown;
}

absl::StatusOr<std::vector<Gpu>> ChosenGpus(const std::vector<Gpu>& visible,
                                            const std::string& devices) {
  if (devices.empty()) return visible;
  if (devices == "none") return std::vector<Gpu>{};
  std::vector<Gpu> chosen;
  for (const std::string& entry : Entries(devices)) {
    const Gpu* gpu = Find(visible, entry);
    if (gpu == nullptr) {
      return absl::InvalidArgumentError(
          "--devices names GPU " + entry + ", which is not among the " +
          std::to_string(visible.size()) +
          " of this machine that are visible; give indices from 0 or UUIDs");
    }
    if (Holds(chosen, *gpu)) return NamedTwice("--devices", entry);
    chosen.push_back(*gpu);
  }
  return chosen;
}

}  // namespace leadline::agent
