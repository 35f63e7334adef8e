// The memory this process has used, and what happens when there is no more.

#pragma once

#include <cstdint>

namespace leadline::trainer {

/// Largest resident size so far, in bytes; 0 where the system does not tell.
int64_t PeakResidentBytes();

/// Where memory runs out, the system shall end this process before those that
/// hold the record of a sweep. Does nothing where it does not let us.
void OfferToEndFirst();

}  // namespace leadline::trainer
