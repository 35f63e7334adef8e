// How limits are written in messages of the ranks.

#pragma once

#include <chrono>
#include <string>

namespace leadline::collective::nccl {

/// "30.0 s".
inline std::string SecondsText(std::chrono::milliseconds time) {
  const auto tenths = time.count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace leadline::collective::nccl
