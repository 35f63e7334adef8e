// What is done to so many trials of a sweep that it takes several transactions:
// it is noted when it begins, and gone on with after a restart.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/ids.h"

namespace leadline::storage {

enum class ErrandKind {
  kCancel,  // what has not ended
  kRetry,   // what has ended without a result
  kStop,    // what must not begin, a limit of failures being reached
};

std::string_view Name(ErrandKind kind);
/// Null unless there is such a kind.
std::optional<ErrandKind> ParseErrandKind(std::string_view name);

/// Of a sweep there is at most one of a kind for each cell, and for the whole.
struct ErrandRecord {
  SweepId sweep;
  std::optional<int64_t> cell;  // its number; null: all of them
  ErrandKind kind = ErrandKind::kCancel;
  bool failed = false;  // is queued again; of kRetry alone, as the next
  bool cancelled = false;

  bool operator==(const ErrandRecord&) const = default;
};

}  // namespace leadline::storage
