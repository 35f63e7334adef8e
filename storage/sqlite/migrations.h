// Brings a database to the schema of this program.

#pragma once

#include <absl/status/status.h>

#include "storage/sqlite/connection.h"

namespace leadline::storage::sqlite {

/// Creates or upgrades the schema, each version in one transaction, and turns
/// the write-ahead log on. FailedPrecondition for a newer schema.
absl::Status Migrate(Connection& connection);

}  // namespace leadline::storage::sqlite
