// How long a trainer goes on that hears nothing. Three programs rest on it: the
// trainer ends itself then, its agent waits a little longer, and the
// coordinator starts no other attempt before.

#pragma once

#include <chrono>

namespace leadline {

inline constexpr std::chrono::seconds kTrainerSilence{30};

}  // namespace leadline
