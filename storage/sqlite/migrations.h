// Brings a database to the schema of this program.

#pragma once

#include <filesystem>

#include <absl/status/status.h>

#include "storage/sqlite/connection.h"

namespace leadline::storage::sqlite {

/// Makes a database at `path`, where there is none or an empty file. It is
/// there whole or not at all, whenever we are killed.
absl::Status CreateDatabase(const std::filesystem::path& path);

/// Creates or upgrades the schema, each version in one transaction, and turns
/// the write-ahead log on or off. FailedPrecondition for a newer schema.
absl::Status Migrate(Connection& connection, bool write_ahead_log = true);

}  // namespace leadline::storage::sqlite
