// Whether a trainer fits on a GPU beside what others use of it.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "worker/agent/device_prober.h"

namespace leadline::agent {

/// Why a trainer that needs so many bytes on each of the GPUs `wanted` (UUIDs)
/// does not fit now, with their figures; empty if it does. GPUs that are not
/// among `gpus`, or do not say what is free, are taken to have room; so are
/// those on which it would not fit if they were empty, or that are: no waiting
/// helps there, and what ends out of memory is taken care of.
std::string WhyNoRoom(std::span<const Gpu> gpus,
                      std::span<const std::string> wanted, int64_t bytes);

}  // namespace leadline::agent
