// Moments as people write them on a command line.

#pragma once

#include <cstdint>
#include <string>

#include <absl/status/statusor.h>

namespace leadline::cli {

/// Seconds since 1970 of "7d", "12h", "30m" before `now`, of a day in UTC
/// ("2026-11-29") or of a moment ("2026-11-29T15:04:05Z"). InvalidArgument for
/// everything else.
absl::StatusOr<int64_t> ParseSince(const std::string& text, int64_t now);

}  // namespace leadline::cli
