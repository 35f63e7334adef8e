// All of a sweep that a coordinator needs after a restart.

#pragma once

#include <vector>

#include <absl/status/statusor.h>

#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace leadline::storage::sqlite {

/// Active and paused sweeps, oldest first. Throws SQLite::Exception.
absl::StatusOr<std::vector<SweepContents>> LoadAllUnfinished(
    Connection& connection);

/// NotFound if there is no such sweep. Throws SQLite::Exception.
absl::StatusOr<SweepContents> LoadOne(Connection& connection, SweepId sweep);

/// Numbers of cells.
struct CellRange {
  int64_t first = 0;
  int64_t last = 0;  // part of it
};

/// Likewise, of those cells alone.
absl::StatusOr<SweepContents> LoadSome(Connection& connection, SweepId sweep,
                                       const CellRange& range);

}  // namespace leadline::storage::sqlite
