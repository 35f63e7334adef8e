#include "storage/sqlite/migrations.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "common/no_room.h"
#include "errors/error_code.h"
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

/// So that the name is on disk too.
void SyncFolder(const std::filesystem::path& folder) {
  const int descriptor =
      open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

absl::Status CannotMake(const std::filesystem::path& path, int error) {
  return WithError(
      absl::UnavailableError("cannot make " + path.string() + ": " +
                             std::strerror(error)),
      IsNoRoom(error) ? ErrorCode::kDiskFull : ErrorCode::kStateUnusable);
}

absl::Status TakeSteps(Connection& connection) {
  const int32_t version = VersionOf(connection);
  if (version > kSchemaVersion) {
    return WithError(absl::FailedPreconditionError("its schema is version " +
                                                   std::to_string(version) +
                                                   "; use a newer leadline"),
                     ErrorCode::kNewerSchema);
  }
  if (version < kSchemaVersion) {
    // Without a log, so that the header in the file itself always tells whose
    // database it is and of which version.
    connection.Execute("PRAGMA journal_mode = DELETE");
  }
  for (int32_t next = version; next < kSchemaVersion; ++next) {
    StepFrom(connection, next);
  }
  return absl::OkStatus();
}

absl::Status UseLog(Connection& connection, bool wanted) {
  if (!wanted) {
    connection.Execute("PRAGMA journal_mode = DELETE");
    return absl::OkStatus();
  }
  const std::string mode =
      connection.database().execAndGet("PRAGMA journal_mode = WAL").getString();
  if (mode == "wal") return absl::OkStatus();
  return absl::FailedPreconditionError(
      "its file system has no write-ahead log (journal mode " + mode + ")");
}

}  // namespace

absl::Status CreateDatabase(const std::filesystem::path& path) {
  const std::filesystem::path unfinished = path.string() + ".new";
  std::error_code error;
  std::filesystem::remove(unfinished, error);
  std::filesystem::remove(unfinished.string() + "-journal", error);
  // SQLite would say only that it cannot open it, and not why.
  const int file =
      open(unfinished.c_str(),
           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file < 0) return CannotMake(path, errno);
  close(file);
  absl::Status made = Run("making " + path.string(), [&] {
    Connection connection(unfinished, Connection::Mode::kWrite);
    return TakeSteps(connection);
  });
  if (!made.ok()) return made;
  std::filesystem::rename(unfinished, path, error);
  if (error) return CannotMake(path, error.value());
  SyncFolder(path.parent_path());
  return absl::OkStatus();
}

absl::Status Migrate(Connection& connection, bool write_ahead_log) {
  return Run("bringing the schema up to date", [&] {
    try {
      const absl::Status steps = TakeSteps(connection);
      return steps.ok() ? UseLog(connection, write_ahead_log) : steps;
    } catch (...) {
      connection.Rollback();
      throw;
    }
  });
}

}  // namespace leadline::storage::sqlite
