#include <system_error>
#include <utility>

#include <sqlite3.h>

#include "errors/error_code.h"
#include "storage/open.h"
#include "storage/sqlite/file_check.h"
#include "storage/sqlite/integrity.h"
#include "storage/sqlite/migrations.h"
#include "storage/sqlite/sqlite_reader.h"
#include "storage/sqlite/sqlite_store.h"

namespace leadline::storage {
namespace {

using sqlite::Connection;

absl::StatusOr<std::unique_ptr<Connection>> Connect(
    const std::filesystem::path& path, const OpenOptions& options) {
  auto connection =
      std::make_unique<Connection>(path, Connection::Mode::kWrite);
  // SQLite opens what it may not write for reading, without a word.
  if (sqlite3_db_readonly(connection->database().getHandle(), "main") == 1) {
    return WithError(
        absl::FailedPreconditionError(
            "cannot use " + path.string() +
            " as the database: it may not be written; check its permissions"),
        ErrorCode::kStateUnusable);
  }
  // Alone on the file, SQLite reads a log that was left without shared memory.
  if (!options.write_ahead_log) {
    connection->Execute("PRAGMA locking_mode = EXCLUSIVE");
  }
  if (absl::Status migrated =
          sqlite::Migrate(*connection, options.write_ahead_log);
      !migrated.ok()) {
    return WithError(
        absl::Status(migrated.code(), "opening " + path.string() + ": " +
                                          std::string(migrated.message())),
        ErrorOf(migrated));
  }
  if (!options.write_ahead_log) {
    connection->Execute("PRAGMA locking_mode = NORMAL");
    // The lock goes with the next read.
    connection->Execute("SELECT count(*) FROM sqlite_schema");
  }
  return connection;
}

}  // namespace

absl::StatusOr<StorePair> OpenSqliteStore(const std::filesystem::path& given,
                                          OpenOptions options) {
  // SQLite gives names like ":memory:" and "file:..." a meaning of their own.
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(given, error);
  const absl::StatusOr<sqlite::FileKind> kind = sqlite::CheckFile(path);
  if (!kind.ok()) return kind.status();
  if (*kind == sqlite::FileKind::kNew) {
    absl::Status made = sqlite::CreateDatabase(path);
    if (!made.ok()) return made;
  }
  absl::StatusOr<std::unique_ptr<Connection>> connection = sqlite::Run(
      "opening " + path.string(), [&] { return Connect(path, options); });
  if (!connection.ok()) return connection.status();
  const absl::StatusOr<bool> sound =
      sqlite::LookForDamage(**connection, options.check_time);
  if (!sound.ok()) return sound.status();
  StorePair pair;
  const auto gate = std::make_shared<sqlite::ReadGate>();
  const auto store =
      std::make_shared<sqlite::SqliteStore>(*std::move(connection), gate);
  pair.store = store;
  pair.access = store;
  auto reader = std::make_unique<sqlite::SqliteReader>(path, gate);
  if (!*sound) reader->CheckAll(std::move(options.checked));
  pair.reader = std::move(reader);
  return pair;
}

}  // namespace leadline::storage
