// Deletes what was removed, some rows at a time.

#pragma once

#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace leadline::storage::sqlite {

/// Inside a transaction of the caller's. Deletes at most about
/// `limits.most_rows` rows; true while some are left. Throws
/// SQLite::Exception.
bool PurgeSome(Connection& connection, const PurgeLimits& limits);

}  // namespace leadline::storage::sqlite
