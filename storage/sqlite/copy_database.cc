#include <cerrno>
#include <cstring>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include <absl/cleanup/cleanup.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "common/no_room.h"
#include "errors/error_code.h"
#include "storage/backup.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/file_check.h"
#include "storage/sqlite/integrity.h"
#include "storage/sqlite/table_counts.h"

namespace leadline::storage {
namespace {

namespace fs = std::filesystem;
using sqlite::Connection;

absl::Status Refused(const std::string& what, const fs::path& path) {
  const int why = errno;
  return WithError(absl::UnavailableError(what + " " + path.string() + ": " +
                                          std::strerror(why)),
                   IsNoRoom(why) ? ErrorCode::kDiskFull : ErrorCode::kFile);
}

absl::Status SyncPath(const fs::path& path, int flags) {
  const int descriptor = open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) return Refused("opening", path);
  const bool done = fsync(descriptor) == 0;
  absl::Status status = done ? absl::OkStatus() : Refused("syncing", path);
  close(descriptor);
  return status;
}

/// `from` is inside a read transaction: the copy is of that moment.
void CopyPages(Connection& from, Connection& to) {
  sqlite3* const target = to.database().getHandle();
  sqlite3_backup* const backup =
      sqlite3_backup_init(target, "main", from.database().getHandle(), "main");
  if (!backup) throw SQLite::Exception(target, sqlite3_errcode(target));
  const int copied = sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  if (copied != SQLITE_DONE) throw SQLite::Exception(target, copied);
  if (finished != SQLITE_OK) throw SQLite::Exception(target, finished);
}

absl::StatusOr<BackupFacts> Copy(const fs::path& database,
                                 const fs::path& target) {
  Connection from(database, Connection::Mode::kRead);
  Connection to(target, Connection::Mode::kWrite);
  from.Execute("BEGIN");
  BackupFacts facts;
  facts.rows = sqlite::CountRows(from);
  CopyPages(from, to);
  from.Rollback();
  // One file, complete in itself.
  to.Execute("PRAGMA journal_mode = DELETE");
  const absl::StatusOr<bool> sound = sqlite::LookForDamage(to, {});
  if (!sound.ok()) return sound.status();
  if (sqlite::CountRows(to) != facts.rows) {
    return absl::DataLossError("the copy " + target.string() +
                               " has other numbers of rows than " +
                               database.string());
  }
  facts.schema = to.database().execAndGet("PRAGMA user_version").getInt64();
  return facts;
}

/// That name, or the first of it with a number that nothing has.
std::string FreeName(const std::string& wanted) {
  std::error_code error;
  std::string name = wanted;
  for (int n = 2; fs::exists(name, error); ++n) {
    name = wanted + "." + std::to_string(n);
  }
  return name;
}

absl::Status CheckIsOurs(const fs::path& database) {
  const auto kind = sqlite::CheckFile(database);
  if (!kind.ok()) return kind.status();
  if (*kind == sqlite::FileKind::kOurs) return absl::OkStatus();
  return absl::FailedPreconditionError("there is no database " +
                                       database.string());
}

}  // namespace

void RemoveDatabase(const fs::path& path) {
  std::error_code error;
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    fs::remove(path.string() + suffix, error);
  }
}

absl::StatusOr<BackupFacts> CopyDatabase(const fs::path& database,
                                         const fs::path& target) {
  if (absl::Status ours = CheckIsOurs(database); !ours.ok()) return ours;
  RemoveDatabase(target);
  absl::StatusOr<BackupFacts> facts = sqlite::Run(
      "copying " + database.string(), [&] { return Copy(database, target); });
  if (facts.ok()) {
    const absl::Status synced = SyncPath(target, O_RDONLY);
    if (!synced.ok()) facts = synced;
  }
  if (!facts.ok()) {
    RemoveDatabase(target);
    return facts;
  }
  std::error_code error;
  facts->bytes = static_cast<int64_t>(fs::file_size(target, error));
  return facts;
}

/// What a kill left in the log of a database goes into it, so that its file is
/// whole by itself. One that is damaged stays as it is.
void TakeInLog(const fs::path& database) {
  std::error_code error;
  if (!fs::exists(database.string() + "-wal", error)) return;
  (void)sqlite::Run("taking in the log", [&] {
    Connection connection(database, Connection::Mode::kWrite);
    connection.Execute("PRAGMA wal_checkpoint(TRUNCATE)");
    return absl::OkStatus();
  });
}

absl::StatusOr<fs::path> PutInPlace(const fs::path& copy,
                                    const fs::path& database,
                                    const std::string& suffix) {
  const fs::path folder = database.parent_path();
  const std::string kept = FreeName(database.string() + suffix);
  fs::path aside;
  std::error_code error;
  if (fs::exists(database, error)) {
    TakeInLog(database);
    aside = kept;
    // A second name first: at no moment is there none.
    if (link(database.c_str(), aside.c_str()) != 0) {
      return Refused("setting aside", database);
    }
  }
  std::vector<std::string> moved;  // what a name ends with
  absl::Cleanup as_it_was = [&] {
    for (const std::string& part : moved) {
      rename((kept + part).c_str(), (database.string() + part).c_str());
    }
    if (!aside.empty()) unlink(aside.c_str());
  };
  // A log beside another database than its own would be taken for its own.
  for (const char* part : {"-wal", "-shm"}) {
    const fs::path file = database.string() + part;
    if (!fs::exists(file, error)) continue;
    if (rename(file.c_str(), (kept + part).c_str()) != 0) {
      return Refused("setting aside", file);
    }
    moved.emplace_back(part);
  }
  if (absl::Status synced = SyncPath(folder, O_RDONLY | O_DIRECTORY);
      !synced.ok()) {
    return synced;
  }
  if (rename(copy.c_str(), database.c_str()) != 0) {
    return Refused("putting in place", database);
  }
  std::move(as_it_was).Cancel();
  if (absl::Status synced = SyncPath(folder, O_RDONLY | O_DIRECTORY);
      !synced.ok()) {
    return synced;
  }
  return aside;
}

}  // namespace leadline::storage
