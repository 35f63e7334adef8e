// How large a data set may be.

#pragma once

#include <cstdint>

namespace leadline::spec {

/// Files are hashed before anything runs and held in memory by trainers. A
/// larger one, most likely no text, would be read for hours first.
inline constexpr int64_t kMostDatasetBytes = int64_t{8} << 30;

}  // namespace leadline::spec
