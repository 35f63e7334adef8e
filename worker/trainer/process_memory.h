// The memory this process has used.

#pragma once

#include <cstdint>

namespace leadline::trainer {

/// Largest resident size so far, in bytes; 0 where the system does not tell.
int64_t PeakResidentBytes();

}  // namespace leadline::trainer
