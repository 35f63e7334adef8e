// What time it is, on the two clocks a decision may be given.

#pragma once

#include <chrono>

#include "storage/records.h"

namespace leadline::control {

/// Of the coordinator alone; times of two hosts are never compared.
using SteadyTime = std::chrono::steady_clock::time_point;
using Seconds = std::chrono::duration<double>;

struct Moment {
  SteadyTime steady;       // leases, waits, durations
  storage::WallTime wall;  // display
};

}  // namespace leadline::control
