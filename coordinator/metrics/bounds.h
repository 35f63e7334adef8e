// What keeps the number of series and their size within bounds.

#pragma once

#include <chrono>
#include <cstddef>

namespace leadline::metrics {

inline constexpr size_t kMostCellSeries = 2000;
inline constexpr size_t kMostSweeps = 100;  // the newest ones
inline constexpr size_t kMostNodes = 250;
inline constexpr size_t kMostLabelBytes = 80;  // longer ones are cut
/// How long a sweep that has ended still has its series.
inline constexpr std::chrono::minutes kAfterTheEnd{10};

}  // namespace leadline::metrics
