#include "storage/sqlite/migrations.h"

#include <string>

#include "storage/sqlite/schema.h"

namespace leadline::storage::sqlite {
namespace {

int32_t VersionOf(Connection& connection) {
  return connection.database().execAndGet("PRAGMA user_version").getInt();
}

void StepFrom(Connection& connection, int32_t version) {
  connection.Execute("BEGIN EXCLUSIVE");
  // Another process may have taken the step while we waited for the lock.
  if (VersionOf(connection) != version) return connection.Rollback();
  connection.Execute(kSchemaSteps[static_cast<size_t>(version)]);
  const std::string mark =
      "PRAGMA application_id = " + std::to_string(kApplicationId) +
      "; PRAGMA user_version = " + std::to_string(version + 1);
  connection.Execute(mark.c_str());
  connection.Execute("COMMIT");
}

absl::Status TakeSteps(Connection& connection) {
  const int32_t version = VersionOf(connection);
  if (version > kSchemaVersion) {
    return absl::FailedPreconditionError("its schema is version " +
                                         std::to_string(version) +
                                         "; use a newer leadline");
  }
  if (version < kSchemaVersion) {
    // Without a log, so that the header in the file itself always tells whose
    // database it is and of which version.
    connection.Execute("PRAGMA journal_mode = DELETE");
  }
  for (int32_t next = version; next < kSchemaVersion; ++next) {
    StepFrom(connection, next);
  }
  const std::string mode =
      connection.database().execAndGet("PRAGMA journal_mode = WAL").getString();
  if (mode == "wal") return absl::OkStatus();
  return absl::FailedPreconditionError(
      "its file system has no write-ahead log (journal mode " + mode + ")");
}

}  // namespace

absl::Status Migrate(Connection& connection) {
  return Run("bringing the schema up to date", [&] {
    try {
      return TakeSteps(connection);
    } catch (...) {
      connection.Rollback();
      throw;
    }
  });
}

}  // namespace leadline::storage::sqlite
